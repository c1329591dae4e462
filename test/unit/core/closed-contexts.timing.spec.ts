import { MemoryLab } from './memory-lab.js';

async function promises(): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < 50_000; i++) await Promise.resolve();
  return performance.now() - started;
}

describe('closed caches', () => {
  it('a closed cache costs the promises of the program nothing any more', async () => {
    const used = async (): Promise<void> => {
      const lab = new MemoryLab();
      const a = await lab.process();
      await a.cache.changes.defer(async () => a.invalidate('k'));
      await a.get('k', () => 'v');
      const closed = a.close();
      await lab.fake.advance(10_000);
      await closed;
      await lab.store.close();
    };
    await used();
    await promises();
    const before = await promises();
    for (let i = 0; i < 200; i++) await used();
    const after = await promises();
    expect(after).toBeLessThan(3 * before);
  }, 60_000);
});
