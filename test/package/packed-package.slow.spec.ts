import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf, install, nestPackages, node, pack, remove, temporaryFolder, tool } from './packed.js';
import { bootScript, TYPED_APP, type Order } from './user-apps.js';

const INSTALL_TIMEOUT = 180_000;
const RUN_TIMEOUT = 120_000;

let folder: string;
let tarball: string;

beforeAll(async () => {
  folder = temporaryFolder('pack');
  tarball = await pack(folder);
}, INSTALL_TIMEOUT);

afterAll(() => remove(folder));

describe('the packed package', () => {
  it('holds the two builds and the papers, nothing else', async () => {
    const files = await filesOf(tarball);
    const expected =
      /^(dist\/(cjs|esm)\/.+\.(js|js\.map|d\.ts)|dist\/(cjs|esm)\/package\.json|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
    expect(files.filter((file) => !expected.test(file))).toEqual([]);
    expect(files.filter((file) => file.includes('.spec.'))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'dist/cjs/index.js', 'dist/esm/index.js', 'dist/cjs/index.d.ts']),
    );
  });

  it(
    'satisfies publint',
    () => {
      const { code, stdout, stderr } = tool('publint', ['run', tarball, '--strict']);
      expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
    },
    RUN_TIMEOUT,
  );

  it(
    'gives every way of importing it the types that belong to it',
    () => {
      const { code, stdout, stderr } = tool('attw', [tarball, '--profile', 'node16', '--format', 'ascii']);
      expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
    },
    RUN_TIMEOUT,
  );
});

describe.each([11, 12] as const)('installed beside NestJS %i', (version) => {
  let app: string;

  beforeAll(async () => {
    app = temporaryFolder(`nest${version}`);
    await install(app, [...nestPackages(version), '@types/node@20', tarball]);
  }, INSTALL_TIMEOUT);

  afterAll(() => remove(app));

  it.each([
    ['an ES module app', 'mjs', 'nest first'],
    ['an ES module app', 'mjs', 'library first'],
    ['a CommonJS app', 'cjs', 'nest first'],
    ['a CommonJS app', 'cjs', 'library first'],
  ] as const)(
    'boots in %s (%s, %s), as one copy and without a warning',
    (_, format, order: Order) => {
      const script = join(app, `boot-${order.replace(' ', '-')}.${format}`);
      writeFileSync(script, bootScript(format, order));
      const { code, stdout, stderr } = node(app, script);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toEqual({ values: [42, 42], loads: 1, oneCopy: true });
    },
    RUN_TIMEOUT,
  );

  it('shares the NestJS of the app', () => {
    const copies = readdirSync(join(app, 'node_modules'), { recursive: true, encoding: 'utf8' }).filter(
      (path) => /(^|node_modules\/)(@nestjs\/(common|core)|nestjs-stampede-cache|ioredis)$/.test(path),
    );
    expect(copies.sort()).toEqual(['@nestjs/common', '@nestjs/core', 'ioredis', 'nestjs-stampede-cache']);
  });

  it.each([
    ['nodenext, from CommonJS and ES modules', ['app.cts', 'app.mts'], ['--module', 'nodenext']],
    ['a bundler', ['app.ts'], ['--module', 'es2022', '--moduleResolution', 'bundler']],
  ])(
    'type-checks under %s',
    (_, files, options) => {
      for (const file of files) writeFileSync(join(app, file), TYPED_APP);
      const strict = [
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--experimentalDecorators',
        '--types',
        'node',
        '--listFiles',
      ];
      const { stdout } = tool('tsc', [...files, ...strict, ...options], app);
      const lines = stdout.split('\n');
      expect(lines).toContainEqual(
        expect.stringMatching(/nestjs-stampede-cache\/dist\/(cjs|esm)\/index\.d\.ts$/),
      );
      // Others' declarations have their own gaps (skipLibCheck hides them); the app's and this package's must be right.
      const errors = lines.filter((line) => /error TS/.test(line));
      const own = errors.filter(
        (line) => !line.startsWith('node_modules/') || line.includes('nestjs-stampede-cache'),
      );
      expect(own).toEqual([]);
    },
    RUN_TIMEOUT,
  );
});
