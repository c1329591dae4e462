/** One process that owns one configuration, and measures what its parent asks for, one thing at a time. */
import { createAdapter } from '../adapters/index.mjs';
import { burst } from './burst.mjs';
import { hits, near, seed } from './hits.mjs';
import { many } from './many.mjs';
import { fill, traffic } from './open-loop.mjs';

const [name, url, namespace, timeoutMs] = process.argv.slice(2);
const COMMANDS = { seed, hits, near, burst, fill, traffic, many };

// A peer that leaves a rejection to nobody would end here; what its callers got is what is measured.
process.on('unhandledRejection', () => undefined);
process.on('uncaughtException', () => undefined);

const cache = await createAdapter(name, { url, namespace, timeoutMs: Number(timeoutMs) || undefined });

process.on('disconnect', () => process.exit(0));
process.on('message', ({ id, command, args }) => {
  if (command === 'exit') void leave();
  else void answer(id, command, args);
});

async function leave() {
  await Promise.race([
    Promise.resolve(cache.close()).catch(() => undefined),
    new Promise((r) => setTimeout(r, 500)),
  ]);
  process.exit(0);
}

async function answer(id, command, args) {
  try {
    process.send({ id, result: await COMMANDS[command](cache, args) });
  } catch (error) {
    process.send({ id, error: String(error?.stack ?? error) });
  }
}

process.send({ ready: true });
