import { RedisServer } from './redis-server.js';

describe('RedisServer', () => {
  let server: RedisServer | undefined;

  const start = async (options?: Parameters<typeof RedisServer.start>[0]) => {
    server = await RedisServer.start(options);
    return server;
  };

  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  it('starts a server that answers, and stops it', async () => {
    const redis = await start();
    await expect(redis.client().ping()).resolves.toBe('PONG');

    await redis.stop();
    const late = redis.client({ retryStrategy: () => null, maxRetriesPerRequest: 0 });
    await expect(late.ping()).rejects.toThrow(/ECONNREFUSED|closed/);
    expect(redis.running).toBe(false);
  });

  it('counts the commands that run meanwhile', async () => {
    const redis = await start();
    const client = redis.client();
    await client.ping();

    const counts = await redis.countCommands(async () => {
      await client.set('a', '1');
      await client.get('a');
      await client.eval("return redis.call('GET', KEYS[1])", 1, 'a');
    });
    expect(counts).toEqual({ set: 1, get: 2, eval: 1 });
  });

  it('is silent while paused and answers what was asked meanwhile once it is resumed', async () => {
    const redis = await start();
    const client = redis.client();
    await client.ping();

    redis.pause();
    const order: string[] = [];
    const answer = client.set('a', '1').then(() => order.push('answer'));
    const impatient = redis.client({ commandTimeout: 50 });
    await expect(impatient.ping()).rejects.toThrow(/timed out/);
    order.push('resume');
    redis.resume();
    await answer;
    expect(order).toEqual(['resume', 'answer']);
  });

  it('stops also when paused', async () => {
    const redis = await start();
    redis.pause();
    await redis.stop();
    expect(redis.running).toBe(false);
  });

  it('comes back on its port after a kill: empty, or with its data when persistent', async () => {
    for (const persistent of [false, true]) {
      const redis = await RedisServer.start({ persistent });
      try {
        await redis.client().set('a', '1');
        await redis.kill();
        expect(redis.running).toBe(false);
        await redis.restart();
        await expect(redis.client().get('a')).resolves.toBe(persistent ? '1' : null);
      } finally {
        await redis.stop();
      }
    }
  });

  it('knows ACL users and a unix socket', async () => {
    const redis = await start({ users: ['app on >secret ~shop:* +@all'], unixSocket: true });
    const client = redis.client({ path: redis.socketPath, username: 'app', password: 'secret' });
    await expect(client.set('shop:a', '1')).resolves.toBe('OK');
    await expect(client.set('other', '1')).rejects.toThrow(/NOPERM/);
  });

  it('says what the server said when it does not start', async () => {
    await expect(RedisServer.start({ args: ['--no-such-option', 'x'] })).rejects.toThrow(
      /ended with 1; it said:/,
    );
  });
});
