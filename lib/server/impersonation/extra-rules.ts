// What constrained impersonation asks of further attributes, which wider impersonation takes as
// they are.
import { domainPathProblems } from '../../api/formats.ts';
import type { User } from '../../base/user.ts';

/** undefined: they are as they should be. */
export function extraProblem(extra: User['extra']): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const [problem] = domainPathProblems(key);
    if (problem !== undefined) {
      const value = JSON.stringify(key);
      const why = `extra.key: Invalid value: ${value}: ${problem}`;
      return `impersonating an invalid key in extra is not allowed: ${why}`;
    }
    if (values.includes('')) {
      return 'impersonating the empty string value in extra is not allowed';
    }
  }
  return undefined;
}
