import type { ClientLike } from '../../../lib/redis/redis-like.js';
import { ScriptRunner } from '../../../lib/redis/script-runner.js';
import { RENEW } from '../../../lib/redis/scripts/index.js';

/** A client whose server answers each run of a script with the next of these. */
function clientThat(answers: (string | Error)[]): ClientLike {
  const client = {
    defineCommand(name: string): void {
      Object.assign(client, {
        [name]: async () => {
          const answer = answers.shift();
          if (answer instanceof Error) throw answer;
          return answer;
        },
      });
    },
  };
  // No other part of a client is used here.
  return client as unknown as ClientLike;
}

const unknown = new Error('NOSCRIPT No matching script. Please use EVAL.');
const readOnly = new Error("READONLY You can't write against a read only replica.");

function run(answers: (string | Error)[], heard: unknown[] = []): Promise<unknown> {
  const runner = new ScriptRunner(clientThat(answers), (error) => void heard.push(error));
  return runner.run(RENEW, ['key'], ['token', 1]);
}

describe('a script the server does not know', () => {
  it('is sent again where its text was redirected or refused on the way: it did not run', async () => {
    expect(await run([unknown, unknown, 'reply'])).toBe('reply');
  });

  it('is not sent for ever', async () => {
    await expect(run(Array.from({ length: 10 }, () => unknown))).rejects.toBe(unknown);
  });

  it('any other failure is told at once: it may have run', async () => {
    const heard: unknown[] = [];
    await expect(run([readOnly, 'reply'], heard)).rejects.toBe(readOnly);
    expect(heard).toEqual([readOnly]);
  });
});
