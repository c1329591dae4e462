/** The scripts of imaginary users. Each prints one line of JSON, and nothing else. */

const LIBRARY = 'nestjs-stampede-cache';

/** How a script gets at a module: `import`, or `require`. */
type Format = 'mjs' | 'cjs';

export type Order = 'nest first' | 'library first';

const load = (format: Format, name: string, from: string) =>
  format === 'mjs' ? `import * as ${name} from '${from}';` : `const ${name} = require('${from}');`;

/** Boots an application with the cache in it, and asks whether there is one copy of everything. */
export function bootScript(format: Format, order: Order): string {
  const nest = [load(format, 'common', '@nestjs/common'), load(format, 'core', '@nestjs/core')];
  const library = load(format, 'library', LIBRARY);
  const imports = order === 'nest first' ? [...nest, library] : [library, ...nest];
  const other =
    format === 'mjs'
      ? "import { createRequire } from 'node:module';\nconst other = createRequire(import.meta.url)('" +
        LIBRARY +
        "');"
      : '';
  return `${format === 'mjs' ? "import 'reflect-metadata';" : "require('reflect-metadata');"}
${imports.join('\n')}
${other}

async function main() {
  const { StampedeCacheModule, StampedeCacheService } = library;
  class AppModule {}
  common.Module({ imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' } })] })(AppModule);
  const app = await core.NestFactory.create(AppModule, { logger: false, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  const cache = app.get(StampedeCacheService);
  let loads = 0;
  const values = [];
  for (let call = 0; call < 2; call++) values.push(await cache.getOrLoad('answer', () => (++loads, 42)));
  await app.close();
  const again = ${format === 'mjs' ? 'other' : `await import('${LIBRARY}')`};
  const oneCopy = again.StampedeCacheService === StampedeCacheService;
  console.log(JSON.stringify({ values, loads, oneCopy }));
}
main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
`;
}

/** What a TypeScript user writes; compiled under several ways of resolving the package. */
export const TYPED_APP = `import { Module } from '@nestjs/common';
import { StampedeCacheModule, StampedeCacheService } from '${LIBRARY}';

@Module({ imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' } })] })
export class AppModule {}

export function answer(cache: StampedeCacheService): Promise<number> {
  return cache.getOrLoad('answer', () => 42);
}
`;
