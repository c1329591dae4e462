import { figure } from './format.mjs';

const WIDTH = 960;
const LEFT = 300;
const RIGHT = 110;
const TOP = 74;
const ROW = 26;
const BAR = 17;

const INK = '#1f2933';
const FAINT = '#5f6b7a';
const GRID = '#e3e8ee';
const COLORS = { ours: '#0b7285', peer: '#a3acb9', limit: '#d9a441' };

/**
 * Horizontal bars, a complete SVG document.
 * @param rows `{ name, value, kind }`; a value that is infinite fills its row
 */
export function barChart({ title, subtitle, rows, log = false }) {
  const height = TOP + rows.length * ROW + 18;
  const width = widthOf(rows, log);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" ` +
      `role="img" aria-label="${escape(label(title, subtitle, rows))}" ` +
      `font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="13">`,
    `<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="10" fill="#ffffff" stroke="${GRID}"/>`,
    text(24, 32, title, `font-size="18" font-weight="700" fill="${INK}"`),
    text(24, 54, subtitle + (log ? ' (logarithmic)' : ''), `fill="${FAINT}"`),
    ...rows.flatMap((row, index) => bar(row, TOP + index * ROW, width(row.value))),
    '</svg>',
    '',
  ].join('\n');
}

/** In pixels. A logarithmic axis begins a little below the smallest value, so that this one shows too. */
function widthOf(rows, log) {
  const values = rows.map(({ value }) => value).filter((value) => Number.isFinite(value) && value > 0);
  const [low, high] = [Math.min(...values) / 2, Math.max(...values, 0)];
  const room = WIDTH - LEFT - RIGHT;
  return (value) => {
    if (value === Infinity) return room;
    if (!(value > 0)) return 0;
    return room * (log ? Math.log(value / low) / Math.log(high / low) : value / high) * 0.97;
  };
}

function bar({ name, value, kind }, y, width) {
  const weight = kind === 'ours' ? ' font-weight="700"' : '';
  const faded = value === Infinity ? ' fill-opacity="0.35"' : '';
  return [
    text(LEFT - 10, y + BAR - 4, name, `text-anchor="end" fill="${INK}"${weight}`),
    `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="2" fill="${COLORS[kind]}"${faded}/>`,
    text(
      LEFT + width + 8,
      y + BAR - 4,
      value === Infinity ? 'not served' : figure(value),
      `fill="${FAINT}"${weight}`,
    ),
  ];
}

function label(title, subtitle, rows) {
  return [`${title}, ${subtitle}`, ...rows.map(({ name, value }) => `${name}: ${figure(value)}`)].join('. ');
}

const text = (x, y, content, attributes) =>
  `<text x="${Number(x.toFixed(1))}" y="${y}" ${attributes}>${escape(content)}</text>`;

const escape = (content) => content.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
