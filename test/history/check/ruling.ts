/** One breach of one rule. `from`, `to` and `about` say which records show it. */
export interface Violation {
  readonly rule: string;
  readonly message: string;
  readonly key: string;
  readonly from: number;
  readonly to: number;
  /** Ids of what it is about: calls, loads, changes, operations of the store. */
  readonly about: readonly string[];
}

/** What the checks found: breaches, and what they had to leave out. */
export class Ruling {
  readonly violations: Violation[] = [];
  /** How often something that looks like a breach was covered by a stated exception. */
  readonly exclusions = new Map<string, number>();
  /** How often each rule was put to the test. */
  readonly judged = new Map<string, number>();

  violate(violation: Violation): void {
    this.violations.push(violation);
  }

  exclude(exception: string): void {
    this.exclusions.set(exception, (this.exclusions.get(exception) ?? 0) + 1);
  }

  count(rule: string): void {
    this.judged.set(rule, (this.judged.get(rule) ?? 0) + 1);
  }
}
