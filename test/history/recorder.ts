import { openSync, readFileSync, writeSync } from 'node:fs';
import { machineNow } from './clock.js';
import type { Happening, HistoryRecord } from './records.js';

/**
 * Writes one process's part of a history. Each record is handed to the kernel before its effect may begin: what a killed
 * process did is known to its last line.
 */
export class Recorder {
  private readonly file: number;
  private ids = 0;

  constructor(
    path: string,
    readonly process: string,
  ) {
    this.file = openSync(path, 'a');
  }

  /** A name that no other record of the history bears. */
  id(kind: string): string {
    this.ids += 1;
    return `${kind}:${this.process}:${this.ids}`;
  }

  note(happening: Happening): void {
    writeSync(this.file, `${JSON.stringify({ t: machineNow(), process: this.process, ...happening })}\n`);
  }
}

/** The records of a file. A last line that was cut off by the process's death is left out. */
export function readRecords(path: string): HistoryRecord[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  lines.pop();
  // Written by `note`.
  return lines.map((line) => JSON.parse(line) as HistoryRecord);
}
