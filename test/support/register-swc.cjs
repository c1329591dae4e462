/**
 * Lets plain `require` load this repository's TypeScript, for processes that Jest does not run: worker processes,
 * benchmarks. The same settings as in jest.config.ts. NEST=11 resolves NestJS from test/compat/nest11, as there.
 */
const { existsSync, readFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { transformSync } = require('@swc/core');

const ROOT = path.dirname(path.dirname(__dirname));
const NEST11 = path.join(ROOT, 'test/compat/nest11');
const FROM_NEST11 = /^(@nestjs\/.+|reflect-metadata|rxjs|rxjs\/.+)$/;

const options = {
  swcrc: false,
  configFile: false,
  sourceMaps: 'inline',
  module: { type: 'commonjs' },
  jsc: {
    target: 'es2022',
    keepClassNames: true,
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
};

Module._extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), { ...options, filename });
  module._compile(code, filename);
};

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, parent, isMain, more) {
  const rewritten = rewrite(request, parent);
  if (process.env.NEST === '11' && FROM_NEST11.test(rewritten)) {
    return resolveFilename.call(this, rewritten, parent, isMain, { ...more, paths: [NEST11] });
  }
  return resolveFilename.call(this, rewritten, parent, isMain, more);
};

function rewrite(request, parent) {
  const [, subpath] = /^nestjs-stampede-cache(?:\/(.+))?$/.exec(request) ?? [undefined, null];
  if (subpath !== null) return path.join(ROOT, 'lib', subpath ?? '', 'index.ts');
  // The sources name their neighbours as they are called once compiled: ./x.js
  if (/^\.{1,2}\//.test(request) && request.endsWith('.js') && parent?.filename?.endsWith('.ts')) {
    const source = path.resolve(path.dirname(parent.filename), request.replace(/\.js$/, '.ts'));
    if (existsSync(source)) return source;
  }
  return request;
}
