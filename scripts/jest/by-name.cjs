// Jest sequencer: test files in the order of their names.
const { default: Sequencer } = require('@jest/test-sequencer');

module.exports = class ByName extends Sequencer {
  /**
   * @override
   * @param {import('@jest/test-result').Test[]} tests
   */
  sort(tests) {
    return [...tests].sort((left, right) => (left.path < right.path ? -1 : 1));
  }
};
