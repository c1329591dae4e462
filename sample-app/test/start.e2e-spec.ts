import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../test/support/until.js';

const ROOT = join(__dirname, '..', '..');
const BUILD_AND_START = 90_000;

describe('npm start', () => {
  let temporary: string;
  let shop: ChildProcess | undefined;

  beforeEach(() => {
    temporary = mkdtempSync(join(tmpdir(), 'shop-start-'));
    chmodSync(temporary, 0o755); // as root, the database runs as another user
  });

  afterEach(() => {
    if (shop?.pid !== undefined && shop.exitCode === null && shop.signalCode === null)
      process.kill(-shop.pid, 'SIGKILL');
    rmSync(temporary, { recursive: true, force: true });
  });

  it(
    'opens the shop without a database or Redis, and leaves nothing behind after Ctrl-C',
    async () => {
      const { DATABASE_URL: _database, REDIS_URL: _redis, ...env } = process.env;
      let output = '';
      const started = spawn('npm', ['start'], {
        cwd: ROOT,
        env: { ...env, PORT: '0', TMPDIR: temporary },
        detached: true, // a process group of its own, as a terminal makes one
      });
      shop = started;
      for (const stream of [started.stdout, started.stderr]) {
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
      }

      const open = () => output.includes('The shop is open.');
      await until(() => open() || started.exitCode !== null, { timeout: BUILD_AND_START, every: 50 });
      expect(output).toContain('The shop is open.');
      const url = /curl (http:\S+)\/products\/1/.exec(output)?.[1];
      const answer = await fetch(`${url}/products/1`);
      expect(await answer.json()).toMatchObject({ id: 1, category: 'lamp' });
      expect(output).toContain('an embedded PostgreSQL');
      expect(readdirSync(temporary).join()).toMatch(/shop-postgres-/);

      const closed = once(started, 'close');
      // spawn() succeeded, so there is a pid.
      process.kill(-started.pid!, 'SIGINT');
      await closed;

      // The data goes last, when the database has stopped.
      expect(readdirSync(temporary).filter((name) => name.startsWith('shop-postgres-'))).toEqual([]);
    },
    BUILD_AND_START + 30_000,
  );
});
