import { count } from './format.js';

export interface Panel {
  readonly name: string;
  /** At the right end of its line, large. */
  readonly total: string;
  /** Before the total, small. */
  readonly note: string;
  readonly color: string;
  /** How often it happened in each interval; all panels have equally many. */
  readonly counts: readonly number[];
  /** The beginning, so many milliseconds of it, that stands out. */
  readonly shade: { readonly until: number; readonly label: string };
}

export interface Timelines {
  readonly title: string;
  readonly subtitle: string;
  /** What the bars count. */
  readonly unit: string;
  /** Width of an interval, in milliseconds. */
  readonly bucket: number;
  readonly panels: readonly Panel[];
}

const WIDTH = 960;
const LEFT = 70;
const RIGHT = 30;
const TOP = 84;
const PANEL_HEAD = 40;
const PLOT = 130;
const FOOT = 56;
/** Room above the highest bar. */
const HEADROOM = 1.18;

const INK = '#1f2933';
const FAINT = '#5f6b7a';
const GRID = '#e3e8ee';
const PAPER = '#ffffff';
const SHADE = '#f4f1ea';

interface Scale {
  readonly x: (milliseconds: number) => number;
  /** Pixels above the base line. */
  readonly height: (value: number) => number;
  readonly end: number;
  readonly step: number;
  readonly highest: number;
}

/** Bar timelines one above the other, with one time axis and one scale: a complete SVG document. */
export function timelineSvg(timelines: Timelines): string {
  const { title, subtitle, panels } = timelines;
  const scale = scaleOf(timelines);
  const height = TOP + panels.length * (PANEL_HEAD + PLOT) + FOOT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" ` +
      `role="img" aria-label="${escape(label(timelines))}" ` +
      `font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="13">`,
    `<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="10" fill="${PAPER}" stroke="${GRID}"/>`,
    text(LEFT, 38, title, `font-size="20" font-weight="700" fill="${INK}"`),
    text(LEFT, 62, subtitle, `font-size="14" fill="${FAINT}"`),
    ...panels.map((panel, index) => drawPanel(panel, baseLine(index), scale, timelines)),
    timeAxis(baseLine(panels.length - 1), scale),
    '</svg>',
    '',
  ].join('\n');
}

function label({ title, panels }: Timelines): string {
  return [title, ...panels.map(({ name, total, note }) => `${name}: ${total}, ${note}`)].join('. ');
}

function baseLine(index: number): number {
  return TOP + (index + 1) * (PANEL_HEAD + PLOT);
}

function scaleOf({ panels, bucket }: Timelines): Scale {
  const end = Math.max(...panels.map(({ counts }) => counts.length), 1) * bucket;
  const highest = Math.max(...panels.flatMap(({ counts }) => counts), 1);
  const pixels = (WIDTH - LEFT - RIGHT) / end;
  return {
    x: (milliseconds) => LEFT + milliseconds * pixels,
    height: (value) => (value * PLOT) / (highest * HEADROOM),
    end,
    highest,
    step: niceStep(highest),
  };
}

/** 1, 2 or 5 times a power of ten: two to five lines up to the highest bar. */
function niceStep(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(highest / 2));
  return Math.max(1, power * ([5, 2].find((factor) => highest / 2 >= factor * power) ?? 1));
}

function drawPanel(panel: Panel, base: number, scale: Scale, { bucket, unit }: Timelines): string {
  const top = base - PLOT;
  const shaded = scale.x(panel.shade.until) - LEFT;
  return [
    `<rect x="${LEFT}" y="${top}" width="${round(shaded)}" height="${PLOT}" fill="${SHADE}"/>`,
    ...valueAxis(base, scale, unit),
    `<path d="${bars(panel.counts, base, scale, bucket)}" fill="${panel.color}"/>`,
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${base}" y2="${base}" stroke="${INK}"/>`,
    text(LEFT, top - 10, panel.name, `font-size="16" font-weight="700" fill="${panel.color}"`),
    summary(panel, top - 10),
    text(LEFT + 5, top + 14, panel.shade.label, `font-size="11" fill="${FAINT}"`),
  ].join('\n');
}

function summary({ total, note, color }: Panel, y: number): string {
  const large = `<tspan dx="12" font-size="18" font-weight="700" fill="${color}">${escape(total)}</tspan>`;
  return `<text x="${WIDTH - RIGHT}" y="${y}" text-anchor="end" font-size="14" fill="${FAINT}">${escape(note)}${large}</text>`;
}

function valueAxis(base: number, { height, step, highest }: Scale, unit: string): string[] {
  const lines: string[] = [];
  for (let value = 0; value <= highest; value += step) {
    const y = round(base - height(value));
    if (value > 0)
      lines.push(`<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}" stroke="${GRID}"/>`);
    lines.push(text(LEFT - 8, y + 4, count(value), `text-anchor="end" fill="${FAINT}"`));
  }
  const middle = base - PLOT / 2;
  const turned = `transform="rotate(-90 22 ${middle})" text-anchor="middle" font-size="12" fill="${FAINT}"`;
  return [...lines, text(22, middle, unit, turned)];
}

/** One path for all bars keeps the file small. */
function bars(counts: readonly number[], base: number, { x, height }: Scale, bucket: number): string {
  return counts
    .map((value, index) => {
      if (value === 0) return '';
      const [left, right] = [round(x(index * bucket) + 0.3), round(x((index + 1) * bucket) - 0.3)];
      return `M${left} ${base}V${round(base - height(value))}H${right}V${base}Z`;
    })
    .join('');
}

function timeAxis(base: number, { x, end }: Scale): string {
  const ticks: string[] = [];
  for (let second = 0; second * 1_000 <= end; second++) {
    const at = round(x(second * 1_000));
    ticks.push(`<line x1="${at}" x2="${at}" y1="${base}" y2="${base + 5}" stroke="${INK}"/>`);
    ticks.push(text(at, base + 20, String(second), `text-anchor="middle" fill="${FAINT}"`));
  }
  const middle = (LEFT + WIDTH - RIGHT) / 2;
  ticks.push(text(middle, base + 42, 'seconds since the start', `text-anchor="middle" fill="${FAINT}"`));
  return ticks.join('\n');
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escape(content)}</text>`;
}

function escape(content: string): string {
  return content.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
