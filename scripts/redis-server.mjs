/**
 * Finds a Redis-compatible server binary: $REDIS_SERVER_BIN, PATH, the local cache (.cache/redis), and at last
 * the distribution's package, downloaded and unpacked into that cache without root and without installing it.
 *
 *   node scripts/redis-server.mjs            prints the binary's path
 *   node scripts/redis-server.mjs --json     prints { "bin", "env" }
 *   node scripts/redis-server.mjs start 6379 runs a server without persistence in the foreground
 */
import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const CACHE = join(ROOT, '.cache', 'redis');
const OLDEST = [6, 2];

const HELP = [
  'The tests need a Redis server (6.2 or newer) or a Valkey server (7.2 or newer). Do one of these:',
  '  - install one, so that `redis-server` or `valkey-server` is on PATH (Debian/Ubuntu: apt-get install redis-server,',
  '    Fedora: dnf install valkey, Alpine: apk add redis, macOS: brew install redis)',
  '  - or set REDIS_SERVER_BIN to the path of a server binary',
].join('\n');

/** @returns {{ bin: string, env: Record<string, string> }} the binary and the variables it needs to run */
export function findRedisServer({ cache = CACHE, install = true } = {}) {
  const given = process.env.REDIS_SERVER_BIN;
  if (given) return usable({ bin: given, env: {} }, `REDIS_SERVER_BIN is ${given}`);

  const tooOld = [];
  for (const name of ['redis-server', 'valkey-server']) {
    const bin = onPath(name);
    if (!bin) continue;
    const found = { bin, env: {} };
    const problem = problemOf(found);
    if (!problem) return found;
    tooOld.push(`${bin}: ${problem}`);
  }

  if (existsSync(binaryIn(cache))) return usable(unpacked(cache), `the cached server in ${cache}`);
  if (!install || !onPath('apt-get') || !onPath('dpkg')) {
    throw new Error(['No usable Redis server was found.', ...tooOld, HELP].join('\n'));
  }
  try {
    downloadInto(cache);
  } catch (error) {
    const reason = String(error.stderr || error.message).trim();
    throw new Error(`A Redis server could not be fetched with apt-get: ${reason}\n${HELP}`, { cause: error });
  }
  return usable(unpacked(cache), `the server fetched into ${cache}`);
}

function onPath(name) {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const candidate = join(directory, name);
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // not here: the next directory of PATH
    }
  }
  return undefined;
}

function usable(found, where) {
  const problem = problemOf(found);
  if (problem) throw new Error(`${where}, but ${problem}.\n${HELP}`);
  return found;
}

/** Why a binary cannot be used, or undefined. */
function problemOf({ bin, env }) {
  let banner;
  try {
    banner = execFileSync(bin, ['--version'], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
      stdio: 'pipe',
    });
  } catch (error) {
    return `it does not run (${String(error.stderr || error.message).trim()})`;
  }
  const [major, minor] = (/v=(\d+)\.(\d+)/.exec(banner) ?? []).slice(1).map(Number);
  if (major === undefined) return `it does not say its version: ${banner.trim()}`;
  const [oldestMajor, oldestMinor] = OLDEST;
  const old = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  return old ? `it is version ${major}.${minor}` : undefined;
}

const binaryIn = (cache) => join(cache, 'usr/bin/redis-server');

function unpacked(cache) {
  const lib = join(cache, 'usr/lib');
  const folders = existsSync(lib) ? readdirSync(lib, { recursive: true, withFileTypes: true }) : [];
  const withLibraries = new Set(
    folders.filter((entry) => entry.name.includes('.so')).map((entry) => entry.parentPath ?? entry.path),
  );
  const path = [...withLibraries, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  return { bin: binaryIn(cache), env: path ? { LD_LIBRARY_PATH: path } : {} };
}

/** Unpacks beside the cache and renames, so that two processes that get here at once cannot see half a server. */
function downloadInto(cache) {
  const work = `${cache}.${process.pid}`;
  mkdirSync(join(work, 'apt/lists/partial'), { recursive: true });
  try {
    const packages = fetchPackages(work);
    const root = join(work, 'root');
    mkdirSync(root);
    for (const file of packages) execFileSync('dpkg', ['-x', file, root], { stdio: 'pipe' });
    try {
      renameSync(root, cache);
    } catch (error) {
      if (!existsSync(binaryIn(cache))) throw error;
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function fetchPackages(work) {
  const download = (options) => {
    const names = neededPackages(options);
    execFileSync('apt-get', [...options, 'download', '-qq', ...names], { cwd: work, stdio: 'pipe' });
  };
  try {
    download([]);
  } catch {
    // Missing or outdated package lists. Fresh ones go to a folder of our own: that needs no root.
    const own = [
      '-o',
      `Dir::State::lists=${join(work, 'apt/lists')}`,
      '-o',
      `Dir::Cache=${join(work, 'apt')}`,
    ];
    execFileSync('apt-get', [...own, 'update', '-qq'], { cwd: work, stdio: 'pipe' });
    download(own);
  }
  return readdirSync(work)
    .filter((file) => file.endsWith('.deb'))
    .map((file) => join(work, file));
}

/** The server's two packages and those of their direct dependencies that this machine does not have. */
function neededPackages(options) {
  const server = ['redis-server', 'redis-tools'];
  const listing = execFileSync('apt-cache', [...options, 'depends', '--important', ...server], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const dependencies = [...listing.matchAll(/^[ |]*(?:Pre)?Depends: ([a-z0-9][^\s<>]*)$/gm)].map(
    (match) => match[1],
  );
  return [...new Set([...server, ...dependencies.filter((name) => !installed(name))])];
}

function installed(name) {
  try {
    const status = execFileSync('dpkg-query', ['-W', '-f', '${Status}\n', name], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return status.includes('install ok installed');
  } catch {
    return false;
  }
}

function runServer(port) {
  const { bin, env } = findRedisServer();
  const args = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn(bin, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal));
  server.on('exit', (code) => process.exit(code ?? 1));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    if (process.argv[2] === 'start') runServer(process.argv[3] ?? '6379');
    else {
      const found = findRedisServer();
      console.log(process.argv[2] === '--json' ? JSON.stringify(found) : found.bin);
    }
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
