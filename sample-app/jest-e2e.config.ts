/** @jest-config-loader-options {"swc": true} */
import type { Config } from 'jest';

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

/** The sample app's end-to-end specs run against the built library, as the app itself does. */
const config: Config = {
  rootDir: '..',
  roots: ['<rootDir>/sample-app'],
  testEnvironment: 'node',
  testMatch: ['**/test/*.e2e-spec.ts'],
  displayName: 'sample-app',
  globalSetup: '<rootDir>/sample-app/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/sample-app/test/support/global-teardown.ts',
  testTimeout: 30_000,
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^nestjs-stampede-cache$': '<rootDir>/dist/cjs/index.js',
    '^nestjs-stampede-cache/(.+)$': '<rootDir>/dist/cjs/$1/index.js',
  },
  transform: {
    '^.+\\.ts$': ['@swc/jest', swc('typescript')],
    // Node 20 and 22: Jest cannot require() an ES module, so the ESM-only packages are turned into CommonJS.
    '/node_modules/.+\\.[cm]?js$': ['@swc/jest', swc('ecmascript')],
  },
  transformIgnorePatterns: ['/node_modules/(?!(@nestjs|file-type|(light-my-request/node_modules/)?cookie)/)'],
};

module.exports = config;
