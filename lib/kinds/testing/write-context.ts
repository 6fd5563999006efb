// A write as strategies are told of it, for suites.
import type { WriteContext } from '../strategy.ts';

/** Of the main resource by a tester, at the beginning of time, where nothing else is said. */
export const writeContext = (said: Partial<WriteContext> = {}): WriteContext => ({
  user: { name: 'tester', uid: '', groups: [], extra: {} },
  dryRun: false,
  fieldManager: '',
  subresource: '',
  warnings: [],
  nowMs: 0,
  apiVersion: 'v1',
  ...said,
});
