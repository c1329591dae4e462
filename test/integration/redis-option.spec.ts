import { EventEmitter } from 'node:events';
import { Cluster, Redis } from 'ioredis';
import { ConfigurationError } from '../../lib/core/errors.js';
import { connect } from '../../lib/redis/connect.js';
import { readConnection } from '../../lib/redis/connection-option.js';
import { redact } from '../../lib/redis/redact.js';
import { makeStore } from './redis-store-kit.js';

const idle = { lazyConnect: true } as const;

describe('the option `redis`', () => {
  it.each([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['an empty string', '', 'an empty string'],
    ['blanks', '  ', 'an empty string'],
    ['a number', 6379, '6379'],
    ['a function', () => 'redis://localhost', 'a function'],
    ['a Promise', Promise.resolve(new Redis(idle)), 'a Promise'],
    ['an array', [{ host: 'a' }], 'an array'],
    ['a URL of another scheme', 'http://user:secret@localhost', 'http://***@localhost'],
    ['a URL that lost a slash', 'redis:/:secret@localhost', 'neither a URL'],
    ['a URL that lost its scheme', 'user:secret@localhost:6379', 'neither a URL'],
    ['a URL in quotes', '"redis://localhost"', 'neither a URL'],
    ['options with a url', { url: 'redis://localhost' }, '`url`'],
    ['options of node-redis', { socket: { host: 'localhost' } }, 'node-redis'],
    ['no nodes', { nodes: [] }, 'at least one node'],
    ['nodes that are no list', { nodes: 'redis://localhost' }, 'at least one node'],
    ['an instance of something else', new EventEmitter(), 'EventEmitter'],
    ['a Map', new Map(), 'Map'],
    ['reads from replicas', { nodes: [{}], options: { scaleReads: 'slave' } }, 'scaleReads'],
    ['reads from replicas, by a function', { nodes: [{}], options: { scaleReads: () => [] } }, 'scaleReads'],
    ['a Sentinel replica', { sentinels: [{ port: 1 }], name: 'm', role: 'slave' }, "role: 'slave'"],
    [
      'a Cluster that reads from replicas',
      new Cluster([{ port: 1 }], { ...idle, scaleReads: 'all' }),
      'scaleReads',
    ],
    [
      'an ioredis replica client',
      new Redis({ ...idle, sentinels: [{ port: 1 }], name: 'm', role: 'slave' }),
      "role: 'slave'",
    ],
  ])('refuses %s by name', (_, value, named) => {
    expect(() => readConnection(value)).toThrow(ConfigurationError);
    expect(() => readConnection(value)).toThrow(/^redis: got /);
    expect(() => readConnection(value)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(named) as string }),
    );
    expect(() => readConnection(value)).not.toThrow(/secret/);
  });

  it('refuses a client of node-redis by name', () => {
    // What both its client and its cluster have, and no ioredis instance.
    const client = Object.assign(new EventEmitter(), {
      isOpen: true,
      sendCommand: () => undefined,
      get: () => undefined,
    });
    expect(() => readConnection(client)).toThrow(/node-redis/);
  });

  it.each([
    ['a URL', 'redis://localhost', 'url'],
    ['a URL with TLS', 'rediss://:secret@localhost:6380/2', 'url'],
    ['host and port', 'localhost:6379', 'url'],
    ['a socket', '/var/run/redis.sock', 'url'],
    ['options', { host: 'localhost' }, 'options'],
    ['Sentinels', { sentinels: [{ host: 'localhost' }], name: 'mymaster', role: 'master' }, 'options'],
    ['nodes', { nodes: ['redis://localhost'], options: { scaleReads: 'master' } }, 'cluster'],
    ['a Redis instance', new Redis(idle), 'instance'],
    ['a Cluster instance', new Cluster([{ port: 1 }], idle), 'instance'],
  ])('takes %s', (_, value, kind) => {
    expect(readConnection(value)).toMatchObject({ kind });
  });

  it.each([
    ['a URL', 'redis://localhost', 0],
    ['options', { host: 'localhost', sentinels: null }, 0],
    ['Sentinels', { sentinels: [{ host: 'localhost', port: 1 }], name: 'mymaster' }, 2000],
    ['nodes', { nodes: [{ port: 1 }] }, 2000],
    ['a Redis instance', new Redis(idle), 0],
    ['an instance that follows Sentinels', new Redis({ ...idle, sentinels: [{ port: 1 }], name: 'm' }), 2000],
    ['a Cluster instance', new Cluster([{ port: 1 }], idle), 2000],
  ])('reckons with clocks that differ where several servers may answer: %s', async (_, connection, skew) => {
    const { store } = await makeStore(connection);
    expect(store.clockSkew).toBe(skew);
  });

  it('makes a client that is not connected yet, queues nothing and ends promptly', () => {
    const { client, owned } = connect({
      host: 'localhost',
      maxRetriesPerRequest: 7,
      enableOfflineQueue: true,
    });
    expect([owned, client.status]).toEqual([true, 'wait']);
    expect(client.options).toMatchObject({
      enableOfflineQueue: false,
      maxRetriesPerRequest: 7,
      connectTimeout: 2000,
      disconnectTimeout: 100,
    });
  });

  it('reconnects when a fail-over turned the server into a replica', () => {
    const { client } = connect('redis://localhost');
    const { reconnectOnError } = client.options as { reconnectOnError: (error: Error) => boolean };
    expect(reconnectOnError(new Error('READONLY You cannot write against a read only replica.'))).toBe(true);
    expect(reconnectOnError(new Error('WRONGTYPE'))).toBe(false);
  });
});

describe('redact', () => {
  it.each([
    ['connect redis://user:pa@ss:word@host:1/2 failed', 'connect redis://***@host:1/2 failed'],
    ['redis://host/?password=secret&db=2', 'redis://host/?password=***&db=2'],
    ['connect ENOENT /:secret@127.0.0.1:7391', 'connect ENOENT /***@127.0.0.1:7391'],
    ['getaddrinfo ENOTFOUND u:secret@host', 'getaddrinfo ENOTFOUND ***@host'],
    ['redis:/u:secret@h', '***@h'],
    ['at 12:30: mail me@example.com', 'at 12:30: mail me@example.com'],
    ['{ password: "secret" }', '{ password: "***" }'],
    ['connect ECONNREFUSED 127.0.0.1:6379', 'connect ECONNREFUSED 127.0.0.1:6379'],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});
