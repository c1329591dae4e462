import { ConfigurationError } from '../../core/errors.js';
import { show } from '../../core/show.js';

/**
 * Whether the environment switches every cache off: `STAMPEDE_CACHE=off`.
 * @throws ConfigurationError for anything but `off` and `on`: a switch that was misspelt must not be ignored
 */
export function isSwitchedOff(environment: NodeJS.ProcessEnv = process.env): boolean {
  const value = environment['STAMPEDE_CACHE'];
  if (value === undefined || value === '' || value === 'on') return false;
  if (value === 'off') return true;
  throw new ConfigurationError(
    `STAMPEDE_CACHE in the environment is 'off' or 'on' (or not set), received ${show(value)}.`,
  );
}
