// The name of a way to choose the holder of a lease: one that is built in, or somebody else's with
// a domain.
import type { FieldErrors } from '../../api/field-errors.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';

export const oldestEmulationVersion = 'OldestEmulationVersion';

/** Reports at a member of `path`, as clients know it. */
export function validateElectionStrategy(
  strategy: string,
  path: string,
  errors: FieldErrors,
): void {
  const where = `${path}.strategy`;
  if (strategy.includes('/')) {
    errors.problems(where, strategy, qualifiedNameProblems(strategy));
  } else if (strategy !== oldestEmulationVersion) {
    errors.notSupported(where, strategy, [oldestEmulationVersion]);
  }
}
