import type { DatabaseServer } from './database/database-server.js';

export interface Environment {
  readonly port: number;
  /** Undefined: start an embedded one. */
  readonly database?: DatabaseServer;
  /** Undefined: the in-process store. */
  readonly redis?: { readonly url: string; readonly description: string };
}

/** PORT, DATABASE_URL and REDIS_URL, each optional. */
export function readEnvironment(variables: NodeJS.ProcessEnv): Environment {
  const database = server(variables, 'DATABASE_URL', ['postgres:', 'postgresql:']);
  const redis = server(variables, 'REDIS_URL', ['redis:', 'rediss:']);
  return { port: port(variables), ...(database && { database }), ...(redis && { redis }) };
}

function port({ PORT }: NodeJS.ProcessEnv): number {
  if (!PORT) return 3000;
  const port = Number(PORT);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new Error(`PORT is '${PORT}'; it must be a number from 0 to 65535`);
}

function server(variables: NodeJS.ProcessEnv, name: string, protocols: readonly string[]) {
  const url = variables[name];
  if (!url) return undefined;
  const [, protocol = '', place = ''] = /^([a-z]+:)\/\/(?:.*@)?([^?#]*)/.exec(url) ?? [];
  // Neither the error nor the description shows the whole URL: it may hold a password.
  if (!protocols.includes(protocol)) throw new Error(`${name} must begin with ${protocols.join('// or ')}//`);
  return { url, description: `${protocol}//${place}` };
}
