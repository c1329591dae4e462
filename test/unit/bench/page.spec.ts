import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BENCH = join(__dirname, '../../bench/bench.mjs');
const OURS = 'nestjs-stampede-cache';

describe('the page of a benchmark run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-page-'));

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function pageOf(lines: readonly object[]): string {
    const file = join(folder, 'lines.jsonl');
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    execFileSync(process.execPath, [BENCH, `--from=${file}`, `--docs=${folder}`], { stdio: 'pipe' });
    return readFileSync(join(folder, 'benchmarks.md'), 'utf8');
  }

  const hits = (adapter: string, round: number, ops: number) =>
    ({ scenario: 'uniform', case: 'c 64', adapter, round, ops, misses: 0 }) as const;
  const ill = (adapter: string, p99: number | 'never') =>
    ({ scenario: 'illness', case: 'Redis killed', adapter, round: 1, p99 }) as const;

  it('tells the median, and the ratio to the better limit of the same round', () => {
    const page = pageOf([
      // A machine that is twice as fast in the second round, and ten times in the third.
      ...[hits('raw GET', 1, 80), hits('raw GET, auto-pipelined', 1, 100), hits(OURS, 1, 95)],
      ...[hits('raw GET', 2, 200), hits('raw GET, auto-pipelined', 2, 160), hits(OURS, 2, 180)],
      ...[hits('raw GET', 3, 1_000), hits('raw GET, auto-pipelined', 3, 900), hits(OURS, 3, 800)],
    ]);

    expect(page).toContain(`| ${OURS} | 180 (0.90) |`);
    expect(page).toContain('| 10,000 keys, c 64, service: at least 0.90 of raw | 0.90 | ✓ |');
    expect(existsSync(join(folder, 'benchmarks/uniform.svg'))).toBe(true);
  });

  it('marks a target that was missed', () => {
    const page = pageOf([hits('raw GET', 1, 100), hits('raw GET, auto-pipelined', 1, 90), hits(OURS, 1, 89)]);

    expect(page).toContain('| 10,000 keys, c 64, service: at least 0.90 of raw | 0.89 | ✗ |');
  });

  it('counts a peer whose calls failed as never served, and not as the fastest', () => {
    const page = pageOf([ill(OURS, 60), ill('bentocache, impatient client', 'never'), ill('cacheable', 70)]);

    expect(page).toContain(
      '| Redis killed, Redis alone: p99 ahead of every peer | 60 ms, best peer (cacheable) 70 ms | ✓ |',
    );
    expect(page).toMatch(/\| bentocache, impatient client \|.* ∞ \|/);
  });
});
