// Jest environment in which `instanceof Error` is true for errors that Node's core makes, too:
// they belong to another realm than the tests. Tests see in `rewritesExpected` whether the run is
// one with -u (lib/base/testing/expected-output.ts).
const { TestEnvironment } = require('jest-environment-node');

module.exports = class extends TestEnvironment {
  /** @param {ConstructorParameters<typeof TestEnvironment>} args */
  constructor(...args) {
    super(...args);
    this.global.rewritesExpected = args[0].globalConfig.updateSnapshot === 'all';
    const own = this.global.Error;
    Object.defineProperty(own, Symbol.hasInstance, {
      /** @param {unknown} value */
      value(value) {
        const inherits = Function.prototype[Symbol.hasInstance].call(this, value);
        return inherits || (this === own && Error.isError(value));
      },
    });
  }
};
