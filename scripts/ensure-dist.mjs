/** Builds dist when it is missing or older than what it is built from. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const modified = (file) => statSync(join(ROOT, file)).mtimeMs;

function isFresh() {
  // Written last by the build: it is there only when the build went through.
  const stamp = 'dist/esm/package.json';
  if (!existsSync(join(ROOT, stamp)) || !existsSync(join(ROOT, 'dist/cjs/index.js'))) return false;
  const sources = readdirSync(join(ROOT, 'lib'), { recursive: true }).map((name) => join('lib', name));
  const inputs = [...sources, 'lib', 'tsconfig.json', 'nest-cli.json', 'package.json'];
  return Math.max(...inputs.map(modified)) <= modified(stamp);
}

export function ensureDist() {
  if (isFresh()) return;
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    ensureDist();
  } catch {
    // the compiler has said what is wrong
    process.exit(1);
  }
}
