import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const ROOT = join(__dirname, '..', '..');

/** The environment of a user's shell: without what `npm test` and Jest put there. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => {
    return !/^(npm_(package|lifecycle|command|execpath|node_execpath)|JEST_|NODE_ENV|NODE_OPTIONS|INIT_CWD)/.test(
      name,
    );
  });
  return Object.fromEntries(kept);
}

/** A folder outside the repository, so that nothing of the repository's node_modules is found by accident. */
export function temporaryFolder(purpose: string): string {
  return mkdtempSync(join(tmpdir(), `stampede-cache-${purpose}-`));
}

export const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** What `npm publish` would upload. dist must be built. */
export async function pack(into: string): Promise<string> {
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', into], {
    cwd: ROOT,
    env: cleanEnvironment(),
  });
  const tarball = readdirSync(into).find((file) => file.endsWith('.tgz'));
  if (!tarball) throw new Error(`npm pack left no tarball in ${into}`);
  return join(into, tarball);
}

export async function filesOf(tarball: string): Promise<string[]> {
  const { stdout } = await run('tar', ['-tzf', tarball]);
  return stdout
    .trim()
    .split('\n')
    .map((file) => file.replace(/^package\//, ''));
}

/** The NestJS packages that a user of that version would install, as the repository pins them. */
export function nestPackages(version: 11 | 12): string[] {
  const file = version === 11 ? 'test/compat/nest11/package.json' : 'package.json';
  const manifest = readManifest(join(ROOT, file));
  const all = { ...manifest.devDependencies, ...manifest.dependencies };
  const { ioredis = '*' } = readManifest(join(ROOT, 'package.json')).devDependencies ?? {};
  const names = ['@nestjs/common', '@nestjs/core', '@nestjs/platform-express', 'reflect-metadata', 'rxjs'];
  return [...names.map((name) => `${name}@${all[name] ?? '*'}`), `ioredis@${ioredis}`];
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function readManifest(file: string): Manifest {
  // npm's own file, with npm's own shape.
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest;
}

export async function install(folder: string, packages: readonly string[]): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{ "name": "user-app", "private": true }\n');
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await run('npm', ['install', ...options, ...packages], { cwd: folder, env: cleanEnvironment() });
}

export interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of the user's app, as the user would. */
export function node(folder: string, script: string): Output {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    cwd: folder,
    env: cleanEnvironment(),
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { code: status, stdout, stderr };
}

/** Runs a tool of the repository's node_modules. */
export function tool(name: string, args: readonly string[], cwd: string = ROOT): Output {
  const { status, stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin', name), args, {
    cwd,
    env: cleanEnvironment(),
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { code: status, stdout, stderr };
}
