// Tests run the code as production does: native ES modules, types stripped by Node itself, which
// keeps the compiled code of every module for later workers, servers and runs.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

const compileCache = join(import.meta.dirname, 'node_modules/.cache/v8');
enableCompileCache(compileCache);
process.env['NODE_COMPILE_CACHE'] ??= compileCache;

export default {
  roots: ['<rootDir>/lib', '<rootDir>/cmd', '<rootDir>/scripts', '<rootDir>/e2e'],
  testEnvironment: '<rootDir>/scripts/jest/environment.cjs',
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  runtime: '<rootDir>/scripts/jest/native-runtime.cjs',
  transform: {},
  testSequencer: '<rootDir>/scripts/jest/longest-first.cjs',
  globalSetup: '<rootDir>/scripts/jest/global-setup.mjs',
  reporters: ['default', 'summary', '<rootDir>/scripts/jest/totals-reporter.cjs'],
  // One more than the two cores: many tests wait for etcd and for time to pass.
  maxWorkers: 3,
  // What test files leave behind makes every later collection of garbage slower.
  workerIdleMemoryLimit: '300MB',
  // Ends what hangs, no more: busy and slow machines run the tests too.
  testTimeout: 600_000,
};
