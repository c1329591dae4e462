/**
 * `npm run test:chaos -- --seconds 120 --seed 1`: Redis falls ill in every way while processes use the cache, see
 * docs/chaos.md. Runs test/chaos/main.ts with the hook that lets Node load TypeScript.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const HOOK = join(ROOT, 'test/support/register-swc.cjs');
const MAIN = join(ROOT, 'test/chaos/main.ts');

const child = spawn(process.execPath, ['--require', HOOK, MAIN, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
