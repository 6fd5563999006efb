// Jest reporter: ends the output with one plain line of totals, for people and for scripts.
// A file that could not be run at all counts as one failed test.

/** @type {new () => Partial<import('@jest/reporters').Reporter>} */
module.exports = class TotalsReporter {
  /**
   * @param {unknown} _contexts
   * @param {import('@jest/reporters').AggregatedResult} results
   */
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const line = `${results.numPassedTests} passed, ${failed} failed\n`;
    // Jest's own summary comes after every other reporter.
    process.once('exit', () => process.stdout.write(line));
  }
};
