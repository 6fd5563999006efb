// Expected output that lies in files beside tests: `npm test -- -u` writes it instead of comparing.

/** Whether this run of the tests is one with -u; scripts/jest/environment.cjs tells. */
export const rewritesExpected: boolean =
  (globalThis as { rewritesExpected?: boolean }).rewritesExpected ?? false;
