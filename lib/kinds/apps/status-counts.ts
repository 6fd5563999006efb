// Counts in the status of workloads: parts are no more than the whole, some never go down.
import { numberAt, recordAt } from '../../api/json-access.ts';
import type { ValidatedWrite } from '../validator.ts';

/** `parts` may not exceed `whole`, and what is available not what is ready. */
export function validateCounts(
  { object, errors }: ValidatedWrite,
  whole: string,
  parts: readonly string[],
): void {
  const status = recordAt(object, 'status');
  if (status === undefined) return;
  const count = (name: string): number => numberAt(status, name) ?? 0;
  for (const part of parts) {
    if (count(part) <= count(whole)) continue;
    errors.invalid(`status.${part}`, count(part), `cannot be greater than status.${whole}`);
  }
  if (!parts.includes('readyReplicas') || count('availableReplicas') <= count('readyReplicas')) {
    return;
  }
  const detail = 'cannot be greater than readyReplicas';
  errors.invalid('status.availableReplicas', count('availableReplicas'), detail);
}

export function validateNotLowered(
  { object, old, errors }: ValidatedWrite,
  names: readonly string[],
): void {
  if (old === undefined) return;
  const [now, before] = [recordAt(object, 'status'), recordAt(old, 'status')];
  for (const name of names) {
    const count = numberAt(before, name);
    if (count === undefined) continue;
    const next = numberAt(now, name) ?? 0;
    if (next < count) errors.invalid(`status.${name}`, next, 'cannot be decremented');
  }
}
