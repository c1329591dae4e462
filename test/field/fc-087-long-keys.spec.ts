import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { field } from './support/field.js';

const here = field();

@Injectable()
class Texts {
  loads = 0;

  @Cached()
  async middle(text: string): Promise<string> {
    this.loads += 1;
    return text.slice(text.length / 2, text.length / 2 + 1);
  }
}

/** 1 MB, all alike but for the middle. */
const long = (middle: string): string => 'x'.repeat(500_000) + middle + 'x'.repeat(500_000);

describe('FC-087: arguments too long for a key', () => {
  it('differ in the middle, and so do their entries; no short argument passes for the hash of a long one', async () => {
    const app = await here.app({ providers: [Texts] });
    const texts = app.get(Texts);
    const handle = app.cache.of(Texts, 'middle');
    const hashed = handle.key(long('a'));
    const [, hash = ''] = /:'?(#[\w-]+)'?$/.exec(hashed) ?? [];
    expect(hash.length).toBeGreaterThan(40);
    const imitations = [hash, `'${hash}'`, `:${hash}`, hash.slice(1), hashed];
    const all = [long('a'), long('b'), ...imitations];
    for (const _ of ['cold', 'warm']) {
      expect(await texts.middle(long('a'))).toBe('a');
      expect(await texts.middle(long('b'))).toBe('b');
      for (const text of imitations) {
        expect(await texts.middle(text)).toBe(text.slice(text.length / 2, text.length / 2 + 1));
      }
    }
    expect(texts.loads).toBe(all.length);
    const entries = await here.entries();
    expect(entries).toHaveLength(all.length);
    for (const entry of entries) expect(entry.length).toBeLessThan(512);
    // Hashed keys are marked, and only they.
    expect(entries.filter((entry) => /:'?#/.test(entry))).toHaveLength(2);
  });
});
