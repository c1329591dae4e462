import { until } from './until.js';

describe('until', () => {
  it('returns the first truthy value', async () => {
    let looks = 0;
    await expect(until(() => (++looks === 3 ? 'third' : undefined))).resolves.toBe('third');
    expect(looks).toBe(3);
  });

  it('goes on after a look that threw', async () => {
    let looks = 0;
    const value = await until(() => {
      if (++looks < 2) throw new Error('not yet');
      return looks;
    });
    expect(value).toBe(2);
  });

  it('says what it waited for and what it saw last', async () => {
    await expect(until(() => 0, { timeout: 10, what: 'a reply' })).rejects.toThrow(
      'Waited 10 ms for a reply; the last look returned 0',
    );
    const failing = () => {
      throw new Error('refused');
    };
    await expect(until(failing, { timeout: 10 })).rejects.toThrow(/the last look threw Error: refused/);
  });
});
