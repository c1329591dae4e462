import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './packed.js';

/** Of what `@nestjs/core` and ioredis take to be imported, as the machine does it now. */
const SHARE = 0.4;
const MOST_HEAP = 10e6;

const SCRIPT = `
  const timed = async (...names) => {
    const begun = performance.now();
    for (const name of names) await import(name);
    return performance.now() - begun;
  };
  const base = await timed('reflect-metadata', '@nestjs/common', '@nestjs/core', 'ioredis');
  gc();
  const before = process.memoryUsage().heapUsed;
  const ours = await timed('./dist/esm/index.js');
  gc();
  console.log(JSON.stringify({ base, ours, heap: process.memoryUsage().heapUsed - before }));
`;

interface Cost {
  readonly base: number;
  readonly ours: number;
  readonly heap: number;
}

function cost(): Cost {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const args = ['--expose-gc', '--input-type=module', '-e', SCRIPT];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as Cost;
}

describe('importing the package', () => {
  it.each(['cjs', 'esm'])('reads one module: %s', (format) => {
    const files = readdirSync(join(ROOT, 'dist', format), { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => file.endsWith('.js'))).toEqual(['index.js']);
  });

  it('takes a fraction of what NestJS and ioredis take, and little memory', () => {
    const costs = Array.from({ length: 5 }, cost);
    const shares = costs.map(({ base, ours }) => ours / base).sort((a, b) => a - b);
    expect(shares[2]).toBeLessThan(SHARE);
    for (const { heap } of costs) expect(heap).toBeLessThan(MOST_HEAP);
  }, 60_000);
});
