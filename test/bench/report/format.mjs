/** A figure as a reader wants it: three significant digits, thousands apart. */
export function figure(value, kind) {
  if (value === undefined || value === null || Number.isNaN(value)) return '–';
  if (value === Infinity) return '∞';
  if (kind === 'share') return `${Math.round(value * 100)} %`;
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(Math.abs(value) >= 10 ? 3 : 2)));
}

export const ratio = (value) => {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (value === Infinity) return '∞';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value < 10 ? 2 : 1);
};

const LINE = 128;

/** Prose in lines of a readable length. */
export function wrap(text) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.length - 1;
    if (lines[last] === '') lines[last] = word;
    else if (lines[last].length + 1 + word.length > LINE) lines.push(word);
    else lines[last] += ` ${word}`;
  }
  return lines.join('\n');
}

/** A Markdown table; the first column is text, the others are figures. */
export function tableOf(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '--:'))), ...rows.map(line)].join(
    '\n',
  );
}
