/** @jest-config-loader-options {"swc": true} */
import type { Config } from 'jest';

const nest11 = process.env['NEST'] === '11';

/**
 * `ordinary` may run in parallel, `timing` (`*.timing.spec.ts`) and `slow` (`*.slow.spec.ts`) run alone; unset means all of
 * them.
 */
const kind = process.env['JEST_KIND'];

const swc = (syntax: 'typescript' | 'ecmascript') => ({
  swcrc: false,
  sourceMaps: 'inline',
  module: { type: 'commonjs' },
  jsc: {
    target: 'es2022',
    keepClassNames: true,
    parser: syntax === 'typescript' ? { syntax, decorators: true } : { syntax },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
});

/** What NestJS has no part in is not run on each of its versions; the packed package is tried on both in one go. */
const WITHOUT_NEST = [
  '/test/(chaos|contract|history|package|support)/',
  '/test/unit/(?!nest/)',
  '/test/integration/(?!fleet/(nest|routes)\\.)',
];

const config: Config = {
  testEnvironment: 'node',
  // A busy machine is no failure; what measures time says so itself.
  testTimeout: 30_000,
  roots: ['<rootDir>/lib', '<rootDir>/test'],
  testMatch: [kind === 'timing' || kind === 'slow' ? `**/*.${kind}.spec.ts` : '**/*.spec.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(kind === 'ordinary' ? ['\\.(timing|slow)\\.spec\\.ts$'] : []),
    ...(nest11 ? WITHOUT_NEST : []),
  ],
  displayName: nest11 ? 'nest11' : 'nest12',
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^nestjs-stampede-cache$': '<rootDir>/lib/index.ts',
    '^nestjs-stampede-cache/(.+)$': '<rootDir>/lib/$1/index.ts',
    ...(nest11
      ? { '^(@nestjs/.+|reflect-metadata|rxjs|rxjs/.+)$': '<rootDir>/test/compat/nest11/node_modules/$1' }
      : {}),
  },
  transform: {
    '^.+\\.ts$': ['@swc/jest', swc('typescript')],
    // Node 20 and 22: Jest cannot require() an ES module, so the ESM-only packages are turned into CommonJS.
    '/node_modules/.+\\.[cm]?js$': ['@swc/jest', swc('ecmascript')],
  },
  transformIgnorePatterns: ['/node_modules/(?!(@nestjs|file-type|(light-my-request/node_modules/)?cookie)/)'],
  coverageProvider: 'v8',
  collectCoverageFrom: ['lib/**/*.ts'],
};

module.exports = config;
