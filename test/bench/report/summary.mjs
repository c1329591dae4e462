import { ADAPTERS } from '../adapters/index.mjs';
import { median } from '../stats.mjs';

const ORDER = Object.keys(ADAPTERS);

/** The measurements of one scenario, and the medians and ratios that follow from them. */
export class Summary {
  constructor(lines, scenario) {
    this.lines = lines.filter((line) => line.scenario === scenario);
  }

  get empty() {
    return this.lines.length === 0;
  }

  get cases() {
    return [...new Set(this.lines.map((line) => line.case))];
  }

  /** In the order of the table of adapters; a second set-up of one, `… , impatient client`, behind it. */
  get adapters() {
    const place = (name) =>
      ORDER.findLastIndex((known) => name === known || name.startsWith(`${known}, imp`));
    const names = [...new Set(this.lines.map((line) => line.adapter))];
    return names.sort((a, b) => place(a) - place(b) || a.length - b.length);
  }

  get rounds() {
    return [...new Set(this.lines.map((line) => line.round))];
  }

  /** One round's figure; undefined: not measured. */
  at(adapter, name, figure, round) {
    return this.#of(adapter, name).find((line) => line.round === round)?.[figure];
  }

  median(adapter, name, figure) {
    return median(this.#of(adapter, name).map((line) => line[figure]));
  }

  /** The best of `limit` in a round. */
  limitAt({ limit, figure, better }, name, round) {
    const values = limit
      .map((each) => this.at(each, name, figure, round))
      .filter((value) => value !== undefined);
    if (values.length === 0) return undefined;
    return better === 'higher' ? Math.max(...values) : Math.min(...values);
  }

  /** The median over the rounds of the ratio to the limit of the same round. */
  ratio(adapter, name, to) {
    return this.over((round) => {
      const [own, limit] = [this.at(adapter, name, to.figure, round), this.limitAt(to, name, round)];
      return own === undefined || limit === undefined ? undefined : own / limit;
    });
  }

  /** The median over the rounds of something that `of` makes of each; undefined where it can't be made. */
  over(of) {
    return median(this.rounds.map(of).filter((value) => value !== undefined && !Number.isNaN(value)));
  }

  #of(adapter, name) {
    return this.lines.filter((line) => line.adapter === adapter && line.case === name);
  }
}
