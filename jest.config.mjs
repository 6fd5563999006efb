// Tests run the code as production does: native ES modules, types stripped by Node itself.
export default {
  roots: ['<rootDir>/lib', '<rootDir>/cmd', '<rootDir>/scripts', '<rootDir>/e2e'],
  testEnvironment: '<rootDir>/scripts/jest/environment.cjs',
  testMatch: ['**/*.test.ts', '**/*.e2e.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/scripts/jest/strip-types.cjs' },
  globalSetup: '<rootDir>/scripts/jest/global-setup.mjs',
  reporters: ['default', 'summary', '<rootDir>/scripts/jest/totals-reporter.cjs'],
  // One more than the two cores: many tests wait for etcd and for time to pass.
  maxWorkers: 3,
  // What test files leave behind makes every later collection of garbage slower.
  workerIdleMemoryLimit: '300MB',
  // Ends what hangs, no more: busy and slow machines run the tests too.
  testTimeout: 600_000,
};
