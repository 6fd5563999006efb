// What failures of mutating policies answer: 403 in every case. The first is the message, and each
// is a cause.
import { StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import type { Binding, Policy } from './bindings.ts';

export interface PolicyFailure {
  readonly policy: Policy;
  /** undefined: the policy itself cannot be asked. */
  readonly binding: Binding | undefined;
  readonly message: string;
  /** `Forbidden`: of what is configured; `Invalid`: of an expression. */
  readonly reason: 'Forbidden' | 'Invalid';
}

export function refusalOf(
  request: AdmissionRequest,
  object: Readonly<ApiObject>,
  first: PolicyFailure,
  failures: readonly PolicyFailure[],
): StatusError {
  const { details } = refusal(request, object, '');
  const causes = failures.map((failure) => ({ message: textOf(failure) }));
  return new StatusError(403, first.reason, textOf(first), { ...details, causes });
}

function textOf({ policy, binding, message }: PolicyFailure): string {
  if (binding === undefined) return `policy "${policy.name}" denied request: ${message}`;
  return `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`;
}
