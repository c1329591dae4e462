import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { findViolations } from '../support/architecture.js';

const ROOT = join(__dirname, '..', '..');

function libSources(): Map<string, string> {
  const files = readdirSync(join(ROOT, 'lib'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    files.map((file) => [relative(ROOT, file).split(sep).join('/'), readFileSync(file, 'utf8')]),
  );
}

const violations = (sources: Record<string, string>) => findViolations(new Map(Object.entries(sources)));

describe('the architecture', () => {
  it('holds in lib', () => {
    const sources = libSources();
    expect(sources.has('lib/index.ts')).toBe(true);
    expect(findViolations(sources)).toEqual([]);
  });
});

describe('the rules', () => {
  it.each([
    [
      'core imports another folder',
      'lib/core/a.ts',
      "import { x } from '../redis/x.js';",
      'lib/core may not know lib/redis',
    ],
    [
      'core imports a type of Nest',
      'lib/core/a.ts',
      "import type { Type } from '@nestjs/common';",
      'lib/core may only import',
    ],
    [
      'a function literal in a property',
      'lib/core/a.ts',
      'flight.onEnd = () => undefined;',
      'assigns a function literal to a property',
    ],
    [
      'a function literal in a field',
      'lib/nest/a.ts',
      'class A { private end: () => void = () => undefined; }',
      'assigns a function literal to a property',
    ],
    ['core requires ioredis', 'lib/core/a.ts', "const x = require('ioredis');", 'lib/core may only import'],
    [
      'core names a type by import()',
      'lib/core/a.ts',
      "let x: import('rxjs').Observable<1>;",
      'lib/core may only import',
    ],
    [
      'core re-exports',
      'lib/core/deep/a.ts',
      "export * from '../../nest/x.js';",
      'lib/core may not know lib/nest',
    ],
    [
      'core outside of the load guard imports its breaker',
      'lib/core/flight/a.ts',
      "import type { IBreaker } from 'cockatiel';",
      'only lib/core/guard/ knows it',
    ],
    [
      'redis imports the breaker',
      'lib/redis/a.ts',
      "import { retry } from 'cockatiel';",
      'only lib/core/guard/',
    ],
    ['core imports the index', 'lib/core/a.ts', "import { x } from '../index.js';", 'knows every folder'],
    [
      'redis imports memory',
      'lib/redis/a.ts',
      "import { x } from '../memory/x.js';",
      'lib/redis may not know lib/memory',
    ],
    [
      'redis imports Nest',
      'lib/redis/a.ts',
      "import { Logger } from '@nestjs/common';",
      'may not know this package',
    ],
    [
      'redis loads ioredis by a dynamic import',
      'lib/redis/a.ts',
      "const load = () => import('ioredis');",
      'no dynamic import',
    ],
    [
      'memory imports redis',
      'lib/memory/a.ts',
      "import type { x } from '../redis/x.js';",
      'lib/memory may not know lib/redis',
    ],
    [
      'memory imports ioredis',
      'lib/memory/a.ts',
      "import type { Redis } from 'ioredis';",
      'only lib/redis knows ioredis',
    ],
    [
      'core imports the real clock',
      'lib/core/a.ts',
      "import { x } from '../runtime/x.js';",
      'may not know lib/runtime',
    ],
    [
      'nest imports redis',
      'lib/nest/a.ts',
      "import { x } from '../redis/x.js';",
      'lib/nest may not know lib/redis',
    ],
    [
      'nest imports ioredis',
      'lib/nest/a.ts',
      "import type { Redis } from 'ioredis';",
      'only lib/redis knows ioredis',
    ],
    [
      'an edge imports redis',
      'lib/health/a.ts',
      "import { x } from '../redis/x.js';",
      'lib/health may not know lib/redis',
    ],
  ])('forbid: %s', (_, file, source, expected) => {
    const found = violations({ [file]: source });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(file);
    expect(found[0]).toContain(expected);
  });

  it.each([
    [
      'lib/core/a.ts',
      "import ms from 'ms'; import { createHash } from 'node:crypto'; import { b } from './keys/b.js';",
    ],
    ['lib/redis/a.ts', "import type { Redis } from 'ioredis'; import { x } from '../core/x.js';"],
    ['lib/core/guard/a.ts', "import { circuitBreaker } from 'cockatiel';"],
    ['lib/redis/a.ts', "import { Redis } from 'ioredis';"],
    [
      'lib/nest/a.ts',
      "import { Logger } from '@nestjs/common'; import type { RedisOption } from '../redis/x.js';",
    ],
    [
      'lib/nest/stampede-cache.module.ts',
      "import { x } from '../redis/x.js'; import { y } from '../memory/y.js';",
    ],
    ['lib/index.ts', "export { x } from './redis/x.js'; export { y } from './nest/y.js';"],
  ])('allow in %s: %s', (file, source) => {
    expect(violations({ [file]: source })).toEqual([]);
  });

  it('allow one file to load ioredis, not two', () => {
    const load = "import { Redis } from 'ioredis';";
    expect(violations({ 'lib/redis/a.ts': load })).toEqual([]);
    expect(violations({ 'lib/redis/a.ts': load, 'lib/redis/b.ts': load })).toEqual([
      expect.stringContaining('lib/redis/a.ts, lib/redis/b.ts: only one file'),
    ]);
  });

  it('find an import cycle once, also through types', () => {
    const found = violations({
      'lib/core/a.ts': "import { b } from './b.js';",
      'lib/core/b.ts': "import type { C } from './c.js';",
      'lib/core/c.ts': "export { a } from './a.js';",
      'lib/core/d.ts': "import { a } from './a.js';",
    });
    expect(found).toEqual(['import cycle: lib/core/a.ts → lib/core/b.ts → lib/core/c.ts → lib/core/a.ts']);
  });

  it.each([
    ['setTimeout(run, 1);', 'setTimeout'],
    ['const later = setInterval;', 'setInterval'],
    ['globalThis.setImmediate(run);', 'setImmediate'],
    ['queueMicrotask(run);', 'queueMicrotask'],
    ['const port = { setTimeout };', 'setTimeout'],
    ['const now = Date.now();', 'Date.now'],
    ['const clock = { now: Date.now };', 'Date.now'],
    ['const at = new Date();', 'new Date()'],
    ['const x = Math.random();', 'Math.random'],
    ['const t = globalThis.performance.now();', 'performance.now'],
    ['process.nextTick(run);', 'process.nextTick'],
  ])('keep the real clock and chance out of core: %s', (source, what) => {
    expect(violations({ 'lib/core/a.ts': `// a comment\n${source}` })).toEqual([
      `lib/core/a.ts:2 uses ${what}: time and chance come through ports`,
    ]);
    expect(violations({ 'lib/redis/a.ts': source })).toEqual([]);
  });

  it.each([
    'interface Timers { setTimeout(run: () => void, ms: number): unknown }',
    'clock.setTimeout(run, 1); clock.now(); random.random();',
    'const at = new Date(clock.now());',
    '// Date.now() would be wrong here',
    "const text = 'setTimeout(run)';",
  ])('know a port from the real clock: %s', (source) => {
    expect(violations({ 'lib/core/a.ts': source })).toEqual([]);
  });

  it('limit a file to 300 lines', () => {
    expect(violations({ 'lib/core/a.ts': 'let x;\n'.repeat(300) })).toEqual([]);
    expect(violations({ 'lib/nest/a.ts': 'let x;\n'.repeat(301) })).toEqual([
      'lib/nest/a.ts has 301 lines, more than 300',
    ]);
  });
});
