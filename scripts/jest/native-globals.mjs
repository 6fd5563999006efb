// What test files get for `@jest/globals` (native-runtime.cjs): bindings that the runtime sets anew
// before each test file, so that modules loaded once serve every file.

/** @typedef {typeof import('@jest/globals')} Globals */

/** @type {Globals['afterAll']} */
export let afterAll;
/** @type {Globals['afterEach']} */
export let afterEach;
/** @type {Globals['beforeAll']} */
export let beforeAll;
/** @type {Globals['beforeEach']} */
export let beforeEach;
/** @type {Globals['describe']} */
export let describe;
/** @type {Globals['expect']} */
export let expect;
/** @type {Pick<Globals['jest'], 'fn' | 'spyOn'>} */
export let jest;
/** @type {Globals['test']} */
export let test;

/** @param {Globals} globals */
export function useGlobals(globals) {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } = globals);
}
