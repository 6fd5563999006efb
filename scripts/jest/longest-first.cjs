// Jest sequencer: end-to-end tests under harm start first, so that the longest do not run alone in
// the end. Jest's own order (last durations, then sizes) holds among equals.
const { default: Sequencer } = require('@jest/test-sequencer');

/** @param {string} path */
const rank = (path) => (path.includes('/e2e/chaos/') ? 0 : 1);

module.exports = class LongestFirst extends Sequencer {
  /**
   * @override
   * @param {import('@jest/test-result').Test[]} tests
   */
  async sort(tests) {
    const sorted = await super.sort(tests);
    return sorted.toSorted((left, right) => rank(left.path) - rank(right.path));
  }
};
