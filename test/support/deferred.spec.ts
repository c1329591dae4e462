import { deferred } from './deferred.js';

describe('deferred', () => {
  it('is pending until it is resolved from outside', async () => {
    const gate = deferred<number>();
    const order: string[] = [];
    const waiting = gate.promise.then((value) => order.push(`got ${value}`));

    await Promise.resolve();
    order.push('still pending');
    expect(gate.settled).toBe(false);

    gate.resolve(7);
    await waiting;
    expect(order).toEqual(['still pending', 'got 7']);
    expect(gate.settled).toBe(true);
  });

  it('rejects with the reason it is given', async () => {
    const gate = deferred();
    gate.reject(new Error('no stock'));
    await expect(gate.promise).rejects.toThrow('no stock');
  });
});
