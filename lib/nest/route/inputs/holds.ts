import { saysWhoAsks } from './identity.js';
import { isObject } from './request-view.js';

/** Values within values that are looked at: `{ headers: { … } }`, `{ cookie: ['…'] }`. */
const DEPTH = 2;

/** Objects of which a decorator looked at all there is, such as by `{ ...request.cookies }`. */
interface SeenWhole {
  has(holder: object): boolean;
}

/** Whether what a decorator returned has all of these in it, as they were sent; not where there are none. */
export function holdsAll(returned: unknown, values: readonly unknown[]): boolean {
  const wanted = values.flat();
  if (wanted.length === 0 || wanted.includes(undefined)) return false;
  const held = new Set<unknown>();
  collect(returned, DEPTH, held);
  return wanted.every((value) => held.has(value));
}

/** Whether it has what says who asks, of cookies or a session that were looked at as a whole. */
export function holdsKept(returned: unknown, request: object, seen: SeenWhole): boolean {
  const { cookies, signedCookies, session } = request as Readonly<Record<string, unknown>>; // any object may be asked
  const jars = [cookies, signedCookies].filter(isObject);
  if (jars.some((jar) => seen.has(jar))) {
    const sent = jars.flatMap(membersOf);
    const telling = sent.filter(isOfWhoAsks);
    // Where none is known as such, any may be one.
    if (holdsMembers(returned, telling.length > 0 ? telling : sent)) return true;
  }
  return (
    isObject(session) && seen.has(session) && holdsMembers(returned, membersOf(session).filter(isOfWhoAsks))
  );
}

/** Whether a cookie or a property of a session with this name says who asks. */
export function keepsWhoAsks(name: string): boolean {
  return name === 'id' || saysWhoAsks(name);
}

type Member = readonly [name: string, value: unknown];

function isOfWhoAsks([name]: Member): boolean {
  return keepsWhoAsks(name);
}

function holdsMembers(returned: unknown, members: readonly Member[]): boolean {
  return holdsAll(
    returned,
    members.map(([, value]) => value),
  );
}

/** `false` is a parser's word for a wrong signature. */
function membersOf(holder: object): readonly Member[] {
  return Object.entries(holder).filter(
    ([, value]: Member) => value !== undefined && value !== null && value !== false,
  );
}

function collect(value: unknown, depth: number, held: Set<unknown>): void {
  held.add(value);
  if (depth === 0 || !isObject(value)) return;
  for (const member of Object.values(value)) collect(member, depth - 1, held);
}
