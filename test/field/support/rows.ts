import { AsyncLocalStorage } from 'node:async_hooks';

/** One table of a database with transactions: what is written inside one is seen inside it, and by others from its commit on. */
export class Rows {
  private readonly committed = new Map<string, string>();
  private readonly open = new AsyncLocalStorage<Map<string, string>>();

  constructor(rows: Readonly<Record<string, string>> = {}) {
    for (const [id, value] of Object.entries(rows)) this.committed.set(id, value);
  }

  get inTransaction(): boolean {
    return this.open.getStore() !== undefined;
  }

  read(id: string): string | undefined {
    return this.open.getStore()?.get(id) ?? this.committed.get(id);
  }

  write(id: string, value: string): void {
    (this.open.getStore() ?? this.committed).set(id, value);
  }

  /** Commits what `run` wrote when it resolves; nothing when it rejects. */
  async transaction<R>(run: () => Promise<R>): Promise<R> {
    const written = new Map<string, string>();
    const result = await this.open.run(written, run);
    for (const [id, value] of written) this.committed.set(id, value);
    return result;
  }
}
