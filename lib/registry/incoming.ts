// From the decoded body of a request to an object in the storage version that the write path may
// change. Kind and apiVersion must be the path's; unknown and duplicate fields become warnings or
// an error here.
import type { AdmissionRequest } from '../admission/plugin.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { badRequest, internalError, StatusError } from '../base/status.ts';
import type { ItemKey } from '../cacher/resource-view.ts';
import type { ApiObject, Decoded, FieldProblem, NamedKind } from '../codec/codec.ts';
import { readObject } from '../codec/normalise.ts';
import { mergeOwners } from './owner-references.ts';
import type { FieldValidation, RequestScope, WriteOptions } from './requests.ts';
import type { StoreParts } from './store-parts.ts';
import type { WriteContext } from '../kinds/strategy.ts';

/** What bodies hold. */
export interface BodyKind extends Pick<ResourceInfo, 'kind' | 'type'> {
  /** Further versions of its group whose bodies are taken for the same. */
  readonly otherVersions?: readonly string[];
}

/** The body in the request's version, with kind and apiVersion. @throws StatusError 400. */
export function readBody(
  resource: ResourceInfo & BodyKind,
  body: Decoded,
  level: FieldValidation,
  warnings: string[],
): ApiObject {
  const { object, problems } = body;
  mustBeOf(resource, object);
  reportProblems(resource, problems, level, warnings);
  object.kind = resource.kind.kind;
  object.apiVersion = apiVersionOf(resource.kind);
  return object;
}

/** What a body leaves out is the path's. @throws StatusError 400 for another kind or version. */
export function mustBeOf(
  { kind: of, otherVersions = [] }: Omit<BodyKind, 'type'>,
  named: NamedKind,
): void {
  const kind = textOr(named.kind, of.kind);
  const apiVersion = textOr(named.apiVersion, apiVersionOf(of));
  const taken = [of.version, ...otherVersions].map((version) => apiVersionOf({ ...of, version }));
  if (kind === of.kind && taken.includes(apiVersion)) return;
  throw badRequest(
    `${kind} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${of.kind}: ` +
      `this path takes ${of.kind} in version ${JSON.stringify(apiVersionOf(of))}`,
  );
}

const textOr = (given: string | undefined, absent: string): string =>
  given === undefined || given === '' ? absent : given;

/** Specification 1, Field validation. @throws StatusError 400 in strict mode. */
export function reportProblems(
  resource: ResourceInfo,
  problems: readonly FieldProblem[],
  level: FieldValidation,
  warnings: string[],
): void {
  if (level === 'Ignore' || problems.length === 0) return;
  const texts = problems.map(({ kind, path }) => `${kind} field ${JSON.stringify(path)}`);
  if (level === 'Strict') {
    const { kind, version } = resource.kind;
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ` +
        `strict decoding error: ${texts.join(', ')}`,
    );
  }
  for (const text of texts) if (!warnings.includes(text)) warnings.push(text);
}

/**
 * Completed and in the storage version; a promise only where the conversion waits. `object` is used
 * up.
 */
export function toStored(
  parts: StoreParts,
  object: ApiObject,
  signal: AbortSignal,
): MaybePromise<ApiObject> {
  const { resource, storedAs, conversion, defaults } = parts;
  defaults.apply(object, resource.type);
  if (conversion === undefined) return object;
  return whenThere(conversion.toStored(object, signal), (stored) => {
    defaults.apply(stored, storedAs.type);
    return stored;
  });
}

export function writeContext(
  parts: StoreParts,
  request: RequestScope & { readonly options: Pick<WriteOptions, 'dryRun'> },
  subresource: string,
): WriteContext {
  const { options } = request as { readonly options: Partial<WriteOptions> };
  return {
    user: request.user,
    dryRun: options.dryRun === true,
    fieldManager: options.fieldManager ?? '',
    subresource,
    warnings: request.warnings,
    annotations: request.annotations,
    nowMs: parts.clock.nowMs(),
    apiVersion: apiVersionOf(parts.resource),
    permissions: request.permissions,
  };
}

/**
 * What mutating admission makes of an object, read through the schema again where it changed
 * something: a plugin cannot store what a body could not. `object` is used up.
 * @throws StatusError of the plugin that refuses, 500 when what a plugin made fits no schema.
 */
export async function mutated(
  parts: StoreParts,
  attributes: AdmissionRequest,
  object: ApiObject,
  { warnings }: Pick<WriteContext, 'warnings'>,
  signal: AbortSignal,
): Promise<ApiObject> {
  mergeOwners(object, warnings, '');
  if (!(await parts.admission.mutate(attributes, object, signal))) return object;
  try {
    const read = readObject(object, parts.storedAs.type).object;
    mergeOwners(read, warnings, ' after mutating admission happens');
    return read;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw internalError(`admission made an object that fits no schema: ${error.message}`);
  }
}

/** What admission is told of a write. */
export function admissionRequest(
  parts: StoreParts,
  change: Pick<AdmissionRequest, 'operation' | 'old'> & { readonly key: ItemKey },
  context: Pick<WriteContext, 'user' | 'dryRun' | 'subresource' | 'warnings' | 'annotations'>,
): AdmissionRequest {
  const { namespace, name } = change.key;
  const { warnings, annotations } = context;
  return {
    operation: change.operation,
    resource: parts.resource,
    subresource: context.subresource,
    namespace,
    name,
    user: context.user,
    dryRun: context.dryRun,
    warn(text) {
      if (!warnings.includes(text)) warnings.push(text);
    },
    annotate(key, value) {
      annotations?.set(key, value);
    },
    old: change.old,
  };
}
