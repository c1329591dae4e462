import { join } from 'node:path';
import { parseArgs } from 'node:util';

const DEFAULT_PICTURE = join(__dirname, '..', '..', '..', '.cache', 'demo.svg');

export interface DemoArguments {
  /** Where the picture goes. */
  readonly picture: string;
}

/** `--picture <file>` */
export function readArguments(args: readonly string[]): DemoArguments {
  const { values } = parseArgs({ args: [...args], options: { picture: { type: 'string' } } });
  return { picture: values.picture ?? DEFAULT_PICTURE };
}
