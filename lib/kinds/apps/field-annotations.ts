// Annotations of workloads that stand for fields of the first versions. The stable versions read
// them as those fields: a text that is no number is a request that cannot be understood.
import { badRequest } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';

export const rollbackRevision = 'deprecated.deployment.rollback.revision';
export const templateGeneration = 'deprecated.daemonset.template.generation';

const integerMax = 2n ** 63n - 1n;

/** @throws StatusError 400 for a text that is no number. */
export function fieldAnnotation(object: Readonly<ApiObject>, name: string): bigint | undefined {
  const text = object.metadata?.annotations?.[name];
  if (text === undefined) return undefined;
  const value = /^[+-]?\d{1,20}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
  if (value === undefined || value > integerMax || value < -integerMax - 1n) {
    throw badRequest(`metadata.annotations[${name}] is no whole number: ${JSON.stringify(text)}`);
  }
  return value;
}
