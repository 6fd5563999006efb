// Query parameters and DeleteOptions bodies to the option records of requests.ts. A value of the
// wrong type is a 400; values that are well formed but not allowed are a 422 with one cause each.
import { fieldManagerErrors } from '../api/meta.ts';
import type { JsonObject } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { badRequest, invalid } from '../base/status.ts';
import type { FieldError } from '../base/status.ts';
import type { ApiObject, NamedKind } from '../codec/codec.ts';
import type {
  DeleteOptions,
  FieldValidation,
  GetOptions,
  ListOptions,
  PatchKind,
  PropagationPolicy,
  WriteOptions,
} from './requests.ts';

type OptionsKind =
  'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions' | 'ListOptions';

const fieldValidations: readonly FieldValidation[] = ['Ignore', 'Strict', 'Warn'];
const policies: readonly PropagationPolicy[] = ['Foreground', 'Background', 'Orphan'];

export function parseGetOptions(query: URLSearchParams): GetOptions {
  return { resourceVersion: query.get('resourceVersion') ?? '' };
}

/** Types only; which combinations are allowed is read.ts' business. @throws StatusError 400. */
export function parseListOptions(query: URLSearchParams): ListOptions {
  return {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    watch: booleanOf(query, 'watch') ?? false,
    allowWatchBookmarks: booleanOf(query, 'allowWatchBookmarks') ?? false,
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds: unlessZero(integerOf(query, 'timeoutSeconds')),
    limit: integerOf(query, 'limit') ?? 0,
    continueToken: query.get('continue') ?? '',
    sendInitialEvents: booleanOf(query, 'sendInitialEvents'),
  };
}

/** What a write is; a patch names its kind, because apply has rules of its own. */
export type WriteVerb = 'create' | 'update' | PatchKind;

/** @throws StatusError 422 of `CreateOptions`, `UpdateOptions` or `PatchOptions`. */
export function parseWriteOptions(
  query: URLSearchParams,
  verb: WriteVerb,
  naming: NamingProfile,
): WriteOptions {
  const patch = verb === 'create' || verb === 'update' ? undefined : verb;
  const kind =
    verb === 'create' ? 'CreateOptions' : verb === 'update' ? 'UpdateOptions' : 'PatchOptions';
  const force = patch === undefined ? undefined : booleanOf(query, 'force');
  const dryRun = query.getAll('dryRun');
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const errors: FieldError[] = [
    ...fieldOwnerErrors(fieldManager, patch),
    ...(force !== undefined && patch !== 'apply'
      ? [forbiddenField('force', 'may not be specified for non-apply patch')]
      : []),
    ...dryRunErrors(dryRun),
    ...fieldValidationErrors(fieldValidation),
  ];
  throwInvalid(kind, errors, naming);
  return {
    dryRun: dryRun.includes('All'),
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    force,
    stated: {
      ...(fieldManager === '' ? {} : { fieldManager }),
      ...(fieldValidation === '' ? {} : { fieldValidation }),
    },
  };
}

/**
 * Options of a DELETE: members of the body win over the query (specification 1, Writes).
 * `body` is a decoded DeleteOptions object; undefined: the request had none.
 */
export function parseDeleteOptions(
  query: URLSearchParams,
  body: Readonly<ApiObject> | undefined,
  naming: NamingProfile,
): DeleteOptions {
  if (body !== undefined) mustBeDeleteOptions(body);
  const dryRun = stringsOf(body?.dryRun) ?? query.getAll('dryRun');
  const policy = textOf(body?.propagationPolicy) ?? query.get('propagationPolicy') ?? undefined;
  const orphan = flagOf(body?.orphanDependents) ?? booleanOf(query, 'orphanDependents');
  const grace = numberOf(body?.gracePeriodSeconds) ?? integerOf(query, 'gracePeriodSeconds');
  const ignore = 'ignoreStoreReadErrorWithClusterBreakingPotential';
  const ignoreReadError = flagOf(body?.[ignore]) ?? booleanOf(query, ignore) ?? false;
  const preconditions = recordOf(body?.preconditions);
  const options: DeleteOptions = {
    dryRun: dryRun.includes('All'),
    gracePeriodSeconds: grace,
    orphanDependents: orphan,
    propagationPolicy: policy as PropagationPolicy | undefined,
    preconditions: {
      uid: textOf(preconditions?.uid),
      resourceVersion: textOf(preconditions?.resourceVersion),
    },
    ignoreReadError,
    stated: statedDeletion({
      ...{ grace, orphan, policy, ignoreReadError },
      preconditions: preconditions as JsonObject | undefined,
    }),
  };
  throwInvalid('DeleteOptions', [...policyErrors(policy, orphan), ...dryRunErrors(dryRun)], naming);
  return options;
}

function statedDeletion(of: {
  readonly grace: number | undefined;
  readonly orphan: boolean | undefined;
  readonly policy: string | undefined;
  readonly preconditions: JsonObject | undefined;
  readonly ignoreReadError: boolean;
}): JsonObject {
  const { grace, orphan, policy, preconditions, ignoreReadError } = of;
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
    ...(ignoreReadError ? { ignoreStoreReadErrorWithClusterBreakingPotential: true } : {}),
  };
}

/** Every version has the same ones. @throws StatusError 400. */
export function mustBeDeleteOptions({ kind = '' }: NamedKind): void {
  if (kind !== '' && kind !== 'DeleteOptions') {
    throw badRequest(`the body of a DELETE must be DeleteOptions, not ${kind}`);
  }
}

function policyErrors(policy: string | undefined, orphan: boolean | undefined): FieldError[] {
  const field = 'propagationPolicy';
  if (policy === undefined) return [];
  const errors: FieldError[] = [];
  if (orphan !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    errors.push({ reason: 'FieldValueInvalid', field, badValue: policy, detail });
  }
  if (!policies.includes(policy as PropagationPolicy)) {
    errors.push(notSupported(field, policy, [...policies, 'nil']));
  }
  return errors;
}

/** Of the unsafe delete: all else must be unset (specification 1, Deletion lifecycle). */
export function unsafeDeleteErrors(options: DeleteOptions): FieldError[] {
  const { dryRun, gracePeriodSeconds, orphanDependents, preconditions, propagationPolicy } =
    options;
  const { uid, resourceVersion } = preconditions;
  const set: readonly (readonly [string, boolean, unknown])[] = [
    ['dryRun', dryRun, ['All']],
    ['gracePeriodSeconds', gracePeriodSeconds !== undefined, gracePeriodSeconds],
    ['orphanDependents', orphanDependents !== undefined, orphanDependents],
    ['preconditions', uid !== undefined || resourceVersion !== undefined, preconditions],
    ['propagationPolicy', propagationPolicy !== undefined, propagationPolicy],
  ];
  const detail = 'must be unset together with ignoreStoreReadErrorWithClusterBreakingPotential';
  return set
    .filter(([, isSet]) => isSet)
    .map(([field, , badValue]) => ({ reason: 'FieldValueInvalid', field, badValue, detail }));
}

/** The empty value asks for an ordinary run (specification 1, Dry run). */
function dryRunErrors(values: readonly string[]): FieldError[] {
  const given = values.filter((value) => value !== '');
  return given.every((value) => value === 'All') ? [] : [notSupported('dryRun', given, ['All'])];
}

function fieldOwnerErrors(manager: string, patch: PatchKind | undefined): FieldError[] {
  if (patch !== 'apply' || manager !== '') return fieldManagerErrors(manager);
  const detail = 'is required for apply patch';
  return [{ reason: 'FieldValueRequired', field: 'fieldManager', detail }];
}

function fieldValidationErrors(value: string): FieldError[] {
  if (value === '' || fieldValidations.includes(value as FieldValidation)) return [];
  return [notSupported('fieldValidation', value, ['', ...fieldValidations])];
}

export function notSupported(
  field: string,
  badValue: unknown,
  supported: readonly string[],
): FieldError {
  const list = supported.map((value) => JSON.stringify(value)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    field,
    badValue,
    detail: `supported values: ${list}`,
  };
}

export const forbiddenField = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  detail,
});

/** @throws StatusError 422 that names the options' kind, when there are errors. */
export function throwInvalid(
  kind: OptionsKind,
  errors: readonly FieldError[],
  naming: NamingProfile,
): void {
  if (errors.length > 0) throw invalid({ group: naming.metaGroup, kind }, '', errors);
}

/** Present without value, or with anything but `0` and `false`: true. */
export function booleanOf(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value !== '0' && value.toLowerCase() !== 'false';
}

/**
 * A decimal 64-bit integer; numbers that JavaScript cannot hold exactly become the nearest safe
 * one.
 */
export function integerOf(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!/^[+-]?\d+$/.test(value)) {
    throw badRequest(`${name}: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
  const number = BigInt(value.replace(/^\+/, ''));
  if (BigInt.asIntN(64, number) !== number) {
    throw badRequest(`${name}: parsing ${JSON.stringify(value)}: value out of range`);
  }
  const bounded = Math.min(Number(number), Number.MAX_SAFE_INTEGER);
  return Math.max(bounded, Number.MIN_SAFE_INTEGER);
}

/** Zero seconds mean the same as an absent parameter: the server chooses. */
const unlessZero = (value: number | undefined): number | undefined =>
  value === 0 ? undefined : value;

/** An empty text is a value: a uid that no object has, the name of no policy. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
const flagOf = (value: unknown): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined;
const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
const stringsOf = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) && value.length > 0 ? value.map(String) : undefined;
const recordOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
