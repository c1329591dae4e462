import { ConfigurationError } from '../core/errors.js';
import { show } from '../core/show.js';

type Fields = Readonly<Record<string, unknown>>;

interface Kind {
  readonly fits: (value: unknown) => boolean;
  readonly is: string;
  /** Its value must not stand in a message. */
  readonly secret?: true;
}

/** ioredis takes numbers as text too, as they come from the environment. */
const whole = (most: number) => (value: unknown) => {
  const isText = typeof value === 'string' && /^\s*\d+\s*$/.test(value);
  return (
    (typeof value === 'number' || isText) && Number.isInteger(Number(value)) && isIn(Number(value), most)
  );
};
const isIn = (value: number, most: number): boolean => value >= 0 && value <= most;

const PORT: Kind = { fits: whole(65_535), is: 'a port from 0 to 65535' };
const INDEX: Kind = { fits: whole(Number.MAX_SAFE_INTEGER), is: 'a whole number from 0' };
const MS: Kind = {
  fits: (value) => typeof value === 'number' && value >= 0 && Number.isFinite(value),
  is: 'a number of milliseconds',
};
const TEXT: Kind = { fits: (value) => typeof value === 'string' && value !== '', is: 'a text' };
const SECRET: Kind = { fits: (value) => typeof value === 'string', is: 'a text', secret: true };
const LIST: Kind = {
  fits: (value) => Array.isArray(value) && value.length > 0,
  is: 'a list of at least one { host, port }',
};

/** Options whose nonsense ioredis would take, only to fail at each attempt to connect, for ever. */
const KINDS: Readonly<Record<string, Kind>> = {
  host: TEXT,
  port: PORT,
  path: TEXT,
  db: INDEX,
  family: { fits: (value) => [0, 4, 6].includes(Number(value)), is: '4, 6 or 0 (both)' },
  username: SECRET,
  password: SECRET,
  sentinelUsername: SECRET,
  sentinelPassword: SECRET,
  sentinels: LIST,
  name: TEXT,
  connectTimeout: MS,
  commandTimeout: MS,
};

/**
 * Judges ioredis options, also those inside a list of nodes or Sentinels.
 * @param where `redis`, `redis.nodes[0]`
 * @throws ConfigurationError naming the option
 */
export function checkFields(options: unknown, where: string): void {
  if (typeof options !== 'object' || options === null) return;
  const fields = options as Fields; // a look by name
  for (const [name, kind] of Object.entries(KINDS)) {
    const value = fields[name];
    // ioredis takes both for its default.
    if (value === undefined || value === null || kind.fits(value)) continue;
    const isTold = kind.secret === undefined && typeof value !== 'object';
    const received = isTold ? show(value) : `a value of type ${typeof value}`;
    throw new ConfigurationError(`${where}: ${name} is ${kind.is}, received ${received}.`);
  }
  const { sentinels } = fields;
  if (!Array.isArray(sentinels)) return;
  sentinels.forEach((sentinel, index) => checkFields(sentinel, `${where}.sentinels[${index}]`));
  if (fields['name'] === undefined || fields['name'] === null) {
    throw new ConfigurationError(`${where}: sentinels need the name of the master: { sentinels, name }.`);
  }
}

/** What a URL says of the same: its path is the database, its query more options. A text that is no URL is left to ioredis. */
export function checkUrl(url: string, where: string): void {
  if (!/^rediss?:\/\//i.test(url) || !URL.canParse(url)) return;
  const { pathname, searchParams } = new URL(url);
  const db = pathname.slice(1);
  const query = Object.fromEntries(['db', 'port', 'family'].map((name) => [name, searchParams.get(name)]));
  checkFields({ ...query, ...(db !== '' && { db }) }, `${where}: the URL`);
}
