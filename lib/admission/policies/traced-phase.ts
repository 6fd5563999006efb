// The span of all policies of a kind that match one request.
import type { Tracing } from '../../telemetry/tracing.ts';
import { spanAttributes } from '../traced.ts';
import type { Selection } from './matched-policies.ts';

export function tracedPhase<T>(
  tracing: Tracing,
  kind: 'mutating' | 'validating',
  { selected: { request }, matched }: Selection,
  run: () => Promise<T>,
): Promise<T> {
  return tracing.within(
    `Dispatch ${kind} policies`,
    () => ({
      ...spanAttributes(request),
      policies: matched.map(({ policy }) => policy.name),
    }),
    run,
  );
}
