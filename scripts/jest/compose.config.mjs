// The suites of e2e/compose, one after the other by their names, against the set-up that
// e2e/compose/main.ts has brought up.
import all from '../../jest.config.mjs';

export default {
  ...all,
  rootDir: '../..',
  roots: ['<rootDir>/e2e/compose'],
  testMatch: ['**/*.compose.ts'],
  testSequencer: '<rootDir>/scripts/jest/by-name.cjs',
  globalSetup: undefined,
  maxWorkers: 1,
  // In this process.
  workerIdleMemoryLimit: undefined,
  // A test that failed may leave requests without an end.
  forceExit: true,
};
