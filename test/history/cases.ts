/** The rules that a history breaks which keeps them (none), and those that one breaks which differs in what breaks `rule`. */
export type Case = readonly [what: string, keeps: readonly string[], breaks: readonly string[], rule: string];

/** One test for each case. */
export function checkCases(cases: readonly Case[]): void {
  it.each(cases)('objects to %s', (_what, keeps, breaks, rule) => {
    expect(keeps).toEqual([]);
    expect(breaks).toContain(rule);
  });
}
