// Jest environment in which `instanceof Error` sees errors of Node's core (they are of another realm).
const { TestEnvironment } = require('jest-environment-node');

module.exports = class extends TestEnvironment {
  /** @param {ConstructorParameters<typeof TestEnvironment>} args */
  constructor(...args) {
    super(...args);
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
