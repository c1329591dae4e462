// The two formats share the extension .js: the nearest package.json says which one a folder holds.
import { writeFileSync } from 'node:fs';

writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n');
writeFileSync('dist/esm/package.json', '{ "type": "module" }\n');
