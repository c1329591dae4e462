import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer } from '../../../scripts/redis-server.mjs';
import { Redis } from '../root.mjs';

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

/** A Redis of our own on a free port of this machine, without persistence. */
export class RedisServer {
  #process;
  #folder = mkdtempSync(join(tmpdir(), 'bench-redis-'));

  static async start() {
    const server = new RedisServer();
    server.port = await freePort();
    server.url = `redis://127.0.0.1:${server.port}`;
    await server.launch();
    return server;
  }

  async launch() {
    const { bin, env } = findRedisServer();
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.#process = spawn(bin, [...args, '--dir', this.#folder], {
      stdio: 'ignore',
      env: { ...process.env, ...env },
    });
    const probe = new Redis(this.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    probe.on('error', () => undefined);
    await probe.ping();
    probe.disconnect();
  }

  async version() {
    const client = new Redis(this.url);
    const info = await client.info('server');
    client.disconnect();
    return /redis_version:(\S+)/.exec(info)?.[1];
  }

  freeze() {
    this.#process.kill('SIGSTOP');
  }

  thaw() {
    this.#process.kill('SIGCONT');
  }

  async kill() {
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  async stop() {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** What clients sent to it meanwhile, by command: commands inside scripts are no round trips. */
  async commandsDuring(run) {
    const client = new Redis(this.url);
    const monitor = await client.monitor();
    const counts = {};
    let over;
    const isOver = new Promise((resolve) => (over = resolve));
    monitor.on('monitor', (_time, [command = '', first = ''], source) => {
      const name = command.toLowerCase();
      if (name === 'echo' && first === 'over') over();
      else if (source !== 'lua') counts[name] = (counts[name] ?? 0) + 1;
    });
    try {
      await run();
      await client.echo('over');
      await isOver;
    } finally {
      monitor.disconnect();
      client.disconnect();
    }
    return counts;
  }
}
