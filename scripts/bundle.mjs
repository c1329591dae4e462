/**
 * The last step of the build: makes one module of each format's 400, which loads four times as fast, and leaves the declarations
 * as they are. Both formats are made from the ES modules.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rollup } from 'rollup';

// In this order: that the last is written tells that the build went through.
const TYPES = { cjs: 'commonjs', esm: 'module' };

const bundle = await rollup({
  input: 'dist/esm/index.js',
  external: (id) => !id.startsWith('.') && !id.startsWith('/'),
  // What has no effect is loaded all the same: the text should be that of the modules.
  treeshake: false,
  onwarn(warning) {
    // Of the helpers for decorators: `this && this.__decorate`.
    if (warning.code !== 'THIS_IS_UNDEFINED') throw new Error(warning.message);
  },
});
// The default export of a CommonJS module is what it exports, as in Node's ES modules.
const generate = async (format) => {
  const { output } = await bundle.generate({ format, interop: 'default', exports: 'named' });
  return [format, output[0].code];
};
const outputs = await Promise.all(Object.keys(TYPES).map(generate));
await bundle.close();

for (const [format, code] of outputs) {
  const folder = join('dist', format);
  for (const file of readdirSync(folder, { recursive: true })) {
    if (file.endsWith('.js')) rmSync(join(folder, file));
  }
  writeFileSync(join(folder, 'index.js'), code);
  // The two formats share the extension .js: the nearest package.json says which one a folder holds.
  writeFileSync(join(folder, 'package.json'), `{ "type": "${TYPES[format]}" }\n`);
}
