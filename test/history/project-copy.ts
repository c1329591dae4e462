import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Edit } from './mutants.js';

const ROOT = join(__dirname, '..', '..');
/** What a process under test is made of. */
const PARTS = ['lib', 'test/history', 'test/support'];

/** A copy of the sources, with edits: what a fleet runs instead of this project's own. */
export class ProjectCopy {
  readonly root = mkdtempSync(join(tmpdir(), 'stampede-cache-copy-'));

  /** @throws when the text of an edit is not found exactly once: it is outdated */
  constructor(edits: readonly Edit[]) {
    try {
      for (const part of PARTS) cpSync(join(ROOT, part), join(this.root, part), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules'), join(this.root, 'node_modules'));
      for (const edit of edits) this.apply(edit);
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  private apply({ file, find, replace }: Edit): void {
    const path = join(this.root, file);
    const parts = readFileSync(path, 'utf8').split(find);
    if (parts.length !== 2) {
      const times = parts.length - 1;
      throw new Error(
        `${file}: this text is there ${times} times instead of once, the edit is outdated:\n${find}`,
      );
    }
    writeFileSync(path, parts.join(replace));
  }
}
