// Jest environment: errors made by Node's core belong to another realm; this lets `instanceof Error` see them.
const { TestEnvironment } = require('jest-environment-node');
module.exports = class extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    const own = this.global.Error;
    Object.defineProperty(own, Symbol.hasInstance, {
      value(value) {
        return Function.prototype[Symbol.hasInstance].call(this, value) || (this === own && Error.isError(value));
      },
    });
  }
};
