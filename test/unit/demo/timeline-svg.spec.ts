import { timelineSvg, type Panel } from '../../../sample-app/src/demo/timeline-svg.js';

const panel = (counts: readonly number[], overrides: Partial<Panel> = {}): Panel => ({
  name: 'before',
  total: '12 queries',
  note: 'p99 2 s',
  color: '#c2410c',
  counts,
  shade: { until: 100, label: 'cold' },
  ...overrides,
});

const draw = (...panels: Panel[]) =>
  timelineSvg({ title: 'Title', subtitle: 'Subtitle', unit: 'queries per 50 ms', bucket: 50, panels });

interface Bar {
  readonly left: number;
  readonly height: number;
}

function bars(svg: string): Bar[][] {
  return [...svg.matchAll(/<path d="([^"]*)"/g)].map(([, path = '']) =>
    [...path.matchAll(/M([\d.]+) ([\d.]+)V([\d.]+)H/g)].map(([, left, base, top]) => ({
      left: Number(left),
      height: Number(base) - Number(top),
    })),
  );
}

describe('the SVG of timelines', () => {
  it('is one document without script, style or anything from elsewhere', () => {
    const svg = draw(panel([1]), panel([2]));
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^>]*>[\s\S]*<\/svg>\n$/);
    expect(svg).not.toMatch(/<script|<style|<image|href|url\(/);
    expect(svg).not.toContain('NaN');
  });

  it('brings its own background, for light and dark pages', () => {
    expect(draw(panel([1]))).toMatch(
      /^<svg[^>]*>\n<rect x="0.5" y="0.5" width="959" height="\d+" rx="10" fill="#ffffff"/,
    );
  });

  it('draws a bar for each interval in which something happened', () => {
    expect(bars(draw(panel([3, 0, 1, 0]), panel([0, 0, 0, 1]))).map((list) => list.length)).toEqual([2, 1]);
  });

  it('gives all panels one scale', () => {
    const [[high], [low]] = bars(draw(panel([40]), panel([4]))) as [[Bar], [Bar]];
    expect(high.height / low.height).toBeCloseTo(10, 0);
  });

  it('gives all panels one time axis, whichever has more intervals', () => {
    const [[, first], [, second]] = bars(draw(panel([1, 0, 0, 1]), panel([1, 0, 0, 1, 0, 0]))) as [
      [Bar, Bar],
      [Bar, Bar],
    ];
    expect(first.left).toBe(second.left);
  });

  it.each([
    [1, ['0', '1']],
    [4, ['0', '2', '4']],
    [40, ['0', '20', '40']],
    [99, ['0', '20', '40', '60', '80']],
    [1_000, ['0', '500', '1,000']],
  ])('labels the value axis up to %d with %j', (highest, labels) => {
    const svg = draw(panel([highest]));
    const values = [...svg.matchAll(/<text x="62" [^>]*>([^<]*)</g)].map(([, value]) => value);
    expect(values).toEqual(labels);
  });

  it('labels each second', () => {
    const svg = draw(panel(Array.from({ length: 50 }, () => 1))); // 2.5 s
    const seconds = [...svg.matchAll(/text-anchor="middle" fill="[^"]*">(\d+)</g)].map(
      ([, second]) => second,
    );
    expect(seconds).toEqual(['0', '1', '2']);
  });

  it('draws even when nothing happened', () => {
    const svg = draw(panel([]));
    expect(bars(svg)).toEqual([[]]);
    expect(svg).not.toMatch(/NaN|Infinity/);
  });

  it('escapes what it is told to write', () => {
    const svg = draw(panel([1], { name: '<b> & "c"', total: '<i>', note: '<u>' }));
    expect(svg).not.toMatch(/<b>|<i>|<u>/);
    expect(svg).toContain('&#60;b&#62; &#38; &#34;c&#34;');
  });

  it('tells in words what it shows', () => {
    expect(draw(panel([1]))).toContain('aria-label="Title. before: 12 queries, p99 2 s"');
  });

  it('is small: 12 seconds of bars in under 60 KB', () => {
    const busy = Array.from({ length: 240 }, (_, n) => 1 + (n % 37));
    expect(draw(panel(busy), panel(busy)).length).toBeLessThan(60_000);
  });
});
