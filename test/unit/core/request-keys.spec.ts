import { Advice } from '../../../lib/core/advice.js';
import { resolveCacheOptions } from '../../../lib/core/cache-options.js';
import type { Key } from '../../../lib/core/keys/index.js';
import { Requests, type Owner } from '../../../lib/core/requests.js';
import { createFakeRuntime } from '../../support/fake-runtime.js';

const requests = () =>
  new Requests(resolveCacheOptions({}), new Advice(createFakeRuntime().runtime), () => undefined);

const FIND: Owner = { name: 'Shop.find' };
const LIST: Owner = { name: 'Shop.list' };
const NEXT: Owner = { name: 'Shop.find', variant: '.2' };

describe('the key of a request, whatever was asked for before', () => {
  it.each<[string, [Owner, Key], [Owner, Key]]>([
    ['methods', [FIND, 1], [LIST, 1]],
    ['versions', [FIND, 1], [NEXT, 1]],
    ['a number and its text', [FIND, 1], [FIND, '1']],
    ['values', [FIND, 'a'], [FIND, 'b']],
    ['a value and a list of it', [FIND, 'a'], [FIND, ['a']]],
  ])('tells %s apart', (_, one, other) => {
    const each = requests();
    const keyOf = ([owner, key]: [Owner, Key]) => each.keyOf(owner, undefined, key, 'here');
    const alone = [one, other].map(([owner, key]) => requests().keyOf(owner, undefined, key, 'here'));
    const inTurn = [keyOf(one), keyOf(other), keyOf(one)];
    const shown = inTurn.map(({ id, variant }) => `${id} ${variant}`);
    expect(shown.slice(0, 2)).toEqual(alone.map(({ id, variant }) => `${id} ${variant}`));
    expect(shown[0]).toBe(shown[2]);
    expect(shown[0]).not.toBe(shown[1]);
  });

  it('heeds the part that keeps tenants apart', () => {
    const each = requests();
    const ids = [undefined, 'acme', 'other', undefined].map((vary) => each.keyOf(FIND, vary, 1, 'here').id);
    expect(new Set(ids).size).toBe(3);
    expect(ids[0]).toBe(ids[3]);
  });

  it('is the same for an argument and for a key of that value', () => {
    const each = requests();
    expect(each.keyOfArgs(FIND, undefined, [7], 'here').id).toBe(each.keyOf(FIND, undefined, 7, 'here').id);
  });
});
