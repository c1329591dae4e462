/**
 * `npm run test:history -- --seconds 120 --seed 1`: the history checker for minutes instead of seconds, see
 * docs/history-checker.md. Runs test/history/main.ts with the hook that lets Node load TypeScript.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const HOOK = join(ROOT, 'test/support/register-swc.cjs');
const MAIN = join(ROOT, 'test/history/main.ts');

const child = spawn(process.execPath, ['--require', HOOK, MAIN, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
