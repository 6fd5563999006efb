// Jest environment without a realm of its own: test files run in the worker's realm, as they would
// under plain Node (scripts/jest/native-runtime.cjs). Tests see in `rewritesExpected` whether the
// run is one with -u (lib/base/testing/expected-output.ts).

/** @typedef {import('@jest/environment').JestEnvironment} JestEnvironment */

module.exports = class NativeEnvironment {
  // What jest sets on a realm's global object, such as the console of the test file.
  global = {};

  /** @param {import('@jest/environment').JestEnvironmentConfig} config */
  constructor({ globalConfig }) {
    Reflect.set(globalThis, 'rewritesExpected', globalConfig.updateSnapshot === 'all');
  }

  async setup() {}

  async teardown() {}

  getVmContext() {
    return null;
  }

  exportConditions() {
    return [];
  }
};
