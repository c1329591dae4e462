import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const FINDER = join(__dirname, '..', '..', '..', 'scripts', 'redis-server.mjs');

export interface RedisProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** A real Redis of this demo's own, on a free port of loopback, that keeps nothing on disk. */
export async function startRedis(): Promise<RedisProcess> {
  const { stdout } = await promisify(execFile)(process.execPath, [FINDER, '--json']);
  // The script prints exactly this shape.
  const { bin, env } = JSON.parse(stdout) as { bin: string; env: Record<string, string> };
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn(bin, [...args, '--dir', tmpdir()], { env: { ...process.env, ...env } });
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill); // however this process ends
  await ready(server, bin);

  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      process.removeListener('exit', kill);
      if (server.exitCode !== null || server.signalCode !== null) return;
      const exited = once(server, 'exit');
      server.kill();
      await exited;
    },
  };
}

function ready(server: ChildProcess, bin: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    const read = (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4_096);
      if (log.includes('Ready to accept connections')) resolve();
    };
    server.stdout?.on('data', read);
    server.stderr?.on('data', read);
    server.once('error', reject);
    server.once('close', (code) => reject(new Error(`${bin} ended with ${code}. It said:\n${log}`)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has an address of this type.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
