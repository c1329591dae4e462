import { Cleanup } from '../../../sample-app/src/demo/cleanup.js';

describe('the clean-up', () => {
  it('undoes in reverse order, one step after the other', async () => {
    const order: string[] = [];
    const cleanup = new Cleanup();
    cleanup.defer(() => void order.push('first'));
    cleanup.defer(async () => {
      order.push('second begins');
      await Promise.resolve();
      order.push('second ends');
    });

    await cleanup.run();
    expect(order).toEqual(['second begins', 'second ends', 'first']);
  });

  it('tries every step, and tells the first failure', async () => {
    const order: string[] = [];
    const cleanup = new Cleanup();
    cleanup.defer(() => void order.push('first'));
    cleanup.defer(() => Promise.reject(new Error('later')));
    cleanup.defer(() => {
      throw new Error('sooner');
    });

    await expect(cleanup.run()).rejects.toThrow('sooner');
    expect(order).toEqual(['first']);
  });

  it('does nothing twice', async () => {
    let times = 0;
    const cleanup = new Cleanup();
    cleanup.defer(() => void times++);
    await cleanup.run();
    await cleanup.run();
    expect(times).toBe(1);
  });
});
