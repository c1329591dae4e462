import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { freePort } from './free-port.js';
import { parseCommandStats, type CommandCounts } from './command-stats.js';

export interface RedisServerOptions {
  /** Default: a free port of loopback. */
  readonly port?: number;
  /** More arguments for the server, such as `['--maxmemory', '2mb']`. */
  readonly args?: readonly string[];
  /** ACL rules, one user each: `'app on >secret ~shop:* &shop:* +@all'`. */
  readonly users?: readonly string[];
  /** Also listen on a unix socket, see `socketPath`. Default false. */
  readonly unixSocket?: boolean;
  /** Keep the data over restart() and kill() (append-only file, fsync always). Default false. */
  readonly persistent?: boolean;
  /** Run it as a Sentinel, with these lines of configuration; it keeps what it learns over restart(). */
  readonly sentinel?: readonly string[];
}

interface Binary {
  readonly bin: string;
  readonly env: Record<string, string>;
}

const START_TIMEOUT = 10_000;
const PORT_ATTEMPTS = 5;
const READY = /Ready to accept connections|Sentinel ID is/;
const ROOT = join(__dirname, '..', '..');

/** A real Redis server on loopback, for one spec file: started, paused, killed and restarted at will. */
export class RedisServer {
  private process?: ChildProcess;
  private log = '';
  private readonly clients = new Set<Redis>();
  private readonly killAtExit = () => this.process?.kill('SIGKILL');

  private constructor(
    readonly port: number,
    private readonly binary: Binary,
    private readonly folder: string,
    private readonly options: RedisServerOptions,
  ) {}

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const binary = findBinary();
    for (let attempt = 1; ; attempt++) {
      const folder = mkdtempSync(join(tmpdir(), 'stampede-cache-redis-'));
      const server = new RedisServer(options.port ?? (await freePort()), binary, folder, options);
      try {
        await server.launch();
        return server;
      } catch (error) {
        rmSync(folder, { recursive: true, force: true });
        const portTaken = /Address already in use/.test(server.log) && options.port === undefined;
        if (!portTaken || attempt === PORT_ATTEMPTS) throw error;
      }
    }
  }

  get host(): string {
    return '127.0.0.1';
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get socketPath(): string {
    if (!this.options.unixSocket) throw new Error('start the server with { unixSocket: true }');
    return join(this.folder, 'redis.sock');
  }

  get running(): boolean {
    return this.process !== undefined;
  }

  /** A client of this server; stop() disconnects it. It reports no 'error' event to the console. */
  client(options: RedisOptions = {}): Redis {
    // ioredis keeps the process alive for that long after it disconnected from a server that is gone (2 s by default).
    const client = new Redis({ host: this.host, port: this.port, disconnectTimeout: 50, ...options });
    client.on('error', () => undefined);
    this.clients.add(client);
    client.once('end', () => this.clients.delete(client));
    return client;
  }

  /** How often each command ran since the start or resetCommandCounts(), those of Lua scripts included. */
  async commandCounts(): Promise<CommandCounts> {
    return this.withClient(async (client) => parseCommandStats(await client.info('commandstats')));
  }

  async resetCommandCounts(): Promise<void> {
    await this.withClient((client) => client.config('RESETSTAT'));
  }

  /** What ran on the server while `run` ran, whoever sent it. */
  async countCommands(run: () => Promise<unknown>): Promise<CommandCounts> {
    // One connection for both looks: a second one would count its own handshake.
    return this.withClient(async (client) => {
      await client.config('RESETSTAT');
      await run();
      const counts = parseCommandStats(await client.info('commandstats'));
      const { 'config|resetstat': _reset, info: _info, ...others } = counts;
      return others;
    });
  }

  /** SIGSTOP: connections stay open and are accepted, nothing is answered. */
  pause(): void {
    this.signal('SIGSTOP');
  }

  /** SIGCONT: what was sent meanwhile is executed now. */
  resume(): void {
    this.signal('SIGCONT');
  }

  /** SIGKILL, as a crash. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Ends the process if it runs, and starts another on the same port: empty, unless `persistent`. */
  async restart(): Promise<void> {
    if (this.process) await this.end('SIGKILL');
    await this.launch();
  }

  /** Disconnects the clients it gave out, ends the process, removes its folder. May be called twice. */
  async stop(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    this.clients.clear();
    if (this.process) await this.end('SIGTERM');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async withClient<T>(use: (client: Redis) => Promise<T>): Promise<T> {
    const client = this.client({ maxRetriesPerRequest: 1 });
    try {
      return await use(client);
    } finally {
      client.disconnect();
    }
  }

  private async launch(): Promise<void> {
    const child = spawn(this.binary.bin, this.commandLine(), {
      env: { ...process.env, ...this.binary.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.process = child;
    this.log = '';
    process.once('exit', this.killAtExit);
    child.once('exit', () => {
      process.removeListener('exit', this.killAtExit);
      if (this.process === child) this.process = undefined;
    });
    try {
      await this.ready(child);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  private ready(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => fail(`was not ready within ${START_TIMEOUT} ms`), START_TIMEOUT);
      const fail = (what: string) => {
        clearTimeout(timer);
        reject(new Error(`redis-server on port ${this.port} ${what}; it said:\n${this.log}`));
      };
      const read = (chunk: Buffer) => {
        this.log = (this.log + chunk.toString()).slice(-16_384);
        if (!READY.test(this.log)) return;
        clearTimeout(timer);
        resolve();
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('error', (error) => fail(`could not be started (${error.message})`));
      child.once('close', (code, signal) => fail(`ended with ${code ?? signal}`));
    });
  }

  private commandLine(): string[] {
    const { args = [], users = [], unixSocket, persistent } = this.options;
    const keep = persistent ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
    if (this.options.sentinel !== undefined) return [this.sentinelFile(this.options.sentinel), '--sentinel'];
    const listen = ['--port', String(this.port), '--bind', this.host];
    return [
      ...listen,
      ...['--dir', this.folder, '--save', ''].concat(keep),
      ...(unixSocket ? ['--unixsocket', this.socketPath] : []),
      ...users.flatMap((rule) => ['--user', ...rule.split(' ')]),
      ...args,
    ];
  }

  /** A Sentinel takes no part of its configuration from the command line, and rewrites the file. */
  private sentinelFile(lines: readonly string[]): string {
    const file = join(this.folder, 'sentinel.conf');
    const all = [`port ${this.port}`, `bind ${this.host}`, `dir ${this.folder}`, ...lines];
    if (!existsSync(file)) writeFileSync(file, `${all.join('\n')}\n`);
    return file;
  }

  private signal(signal: NodeJS.Signals): void {
    if (!this.process?.kill(signal))
      throw new Error(`redis-server on port ${this.port} does not run: no ${signal}`);
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.process;
    if (!child) throw new Error(`redis-server on port ${this.port} does not run`);
    const exited = once(child, 'exit');
    child.kill(signal);
    child.kill('SIGCONT'); // a stopped process would keep SIGTERM for later
    await exited;
  }
}

let found: Binary | undefined;

/** Asks the finder, a script of its own: it is an ES module, which Jest cannot require on Node 20. */
function findBinary(): Binary {
  if (found) return found;
  const script = join(ROOT, 'scripts', 'redis-server.mjs');
  const output = execFileSync(process.execPath, [script, '--json'], { encoding: 'utf8' });
  // The script prints exactly this shape.
  found = JSON.parse(output) as Binary;
  return found;
}
