// An object that nobody posts, as a create would store it: read strictly, defaulted, validated.
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import type { Scheme } from '../api/scheme.ts';
import { validateObjectMeta } from '../api/meta.ts';
import { badRequest, invalid } from '../base/status.ts';
import { serverUser } from '../base/user.ts';
import type { ApiObject } from '../codec/codec.ts';
import { readObject } from '../codec/normalise.ts';
import { metaOf, nameOf } from '../codec/object-meta.ts';
import { kindStrategies } from '../kinds/built-in-kinds.ts';
import type { GateCheck, WriteContext } from '../kinds/strategy.ts';
import { storedRules } from './validation.ts';

export interface CompletingParts {
  readonly scheme: Scheme;
  readonly isOn: GateCheck;
}

/**
 * Of a built-in resource whose stored version is that of the record.
 * @throws StatusError that names the fields
 */
export async function completeObject(
  { scheme, isOn }: CompletingParts,
  record: ResourceInfo,
  given: JsonObject,
): Promise<Readonly<ApiObject>> {
  const { object, problems } = readObject(given, record.type);
  if (problems.length > 0) {
    const texts = problems.map(({ kind, path }) => `${kind} field ${JSON.stringify(path)}`);
    throw badRequest(`strict decoding error: ${texts.join(', ')}`);
  }
  const naming = scheme.profile;
  scheme.defaults.apply(object, record.type);
  const strategy = kindStrategies({ naming, eventTtlSeconds: 0 })(record);
  const rules = storedRules(record, strategy, { isOn, onMismatch: () => undefined });
  const context: WriteContext = {
    user: serverUser,
    dryRun: false,
    fieldManager: '',
    subresource: '',
    warnings: [],
    nowMs: 0,
    apiVersion: apiVersionOf(record.kind),
  };
  rules.prepare(object, undefined, context);
  scheme.defaults.apply(object, record.type);
  const { namespaced, nameRule } = record;
  const takesUnqualifiedFinalizers = true;
  const ofMeta = { namespaced, nameRule, profile: naming, takesUnqualifiedFinalizers, object };
  const errors = validateObjectMeta(metaOf(object), ofMeta);
  const failures = errors.concat(await rules.validate(object, undefined, context, errors));
  if (failures.length > 0) throw invalid(record.kind, nameOf(object), failures);
  return object;
}
