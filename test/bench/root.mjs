import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(new URL('../../package.json', import.meta.url));

/** The ioredis that the package is developed with. `ioredis` in here is an older one, which a peer asks for. */
export const { Redis } = require('ioredis');

/** The package as it is built, by its name and over its `exports`: as an application gets it. */
export const importOurs = () => import(pathToFileURL(require.resolve('nestjs-stampede-cache')).href);

/** The version of a package that is compared, or that compares. */
export function versionOf(name, from = import.meta.url) {
  let at = createRequire(from).resolve.paths(name);
  for (const folder of at) {
    try {
      return require(`${folder}/${name}/package.json`).version;
    } catch {
      at = undefined; // not here: the next folder up
    }
  }
  return 'unknown';
}
