/** What has to be undone at the end, in reverse order. */
export class Cleanup {
  private readonly steps: (() => Promise<void> | void)[] = [];

  defer(step: () => Promise<void> | void): void {
    this.steps.push(step);
  }

  /** Every step is tried; the first failure is thrown after the last step. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.steps.pop(); step; step = this.steps.pop()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
