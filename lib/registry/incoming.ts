// From the decoded body of a request to an object in the storage version that the write path may
// change. Kind and apiVersion must be the path's; unknown and duplicate fields become warnings or
// an error here.
import type { AdmissionRequest } from '../admission/plugin.ts';
import { readOwners } from '../apply/owners.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { GroupVersionKind, JsonValue, ResourceInfo } from '../api/type-info.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { limits } from '../base/limits.ts';
import { badRequest, internalError, invalid, StatusError } from '../base/status.ts';
import type { FieldError } from '../base/status.ts';
import type { ItemKey } from '../cacher/resource-view.ts';
import type { ApiObject, Decoded, FieldProblem, NamedKind } from '../codec/codec.ts';
import { readObject } from '../codec/normalise.ts';
import { nameOf } from '../codec/object-meta.ts';
import { mergeOwners } from './owner-references.ts';
import type { FieldValidation, RequestScope, WriteOptions } from './requests.ts';
import type { StoreParts } from './store-parts.ts';
import type { WriteContext } from '../kinds/strategy.ts';

/** What bodies hold. */
export interface BodyKind extends Pick<ResourceInfo, 'kind' | 'type' | 'namesItself'> {
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

/**
 * What a body leaves out is the path's.
 * @throws StatusError 400 for another kind or version, 422 for a kind that names itself wrong.
 */
export function mustBeOf(
  { kind: of, otherVersions = [], namesItself = false }: Omit<BodyKind, 'type'>,
  named: Readonly<ApiObject>,
): void {
  const kind = textOr(named.kind, of.kind);
  const apiVersion = textOr(named.apiVersion, apiVersionOf(of));
  const taken = [of.version, ...otherVersions].map((version) => apiVersionOf({ ...of, version }));
  const isTaken = taken.includes(apiVersion);
  if (kind === of.kind && isTaken) return;
  if (namesItself) {
    if (!isTaken) throw otherVersion(of, apiVersion);
    throw invalid({ ...of, kind }, nameOf(named), [wrongName('kind', kind, of.kind)]);
  }
  throw badRequest(
    `${kind} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${of.kind}: ` +
      `this path takes ${of.kind} in version ${JSON.stringify(apiVersionOf(of))}`,
  );
}

const otherVersion = (of: GroupVersionKind, given: string): StatusError =>
  badRequest(
    `the API version in the data (${given}) does not match ` +
      `the expected API version (${apiVersionOf(of)})`,
  );

/** What is wrong with the kind or version that an object has. */
export const wrongName = (
  field: 'kind' | 'apiVersion',
  badValue: JsonValue,
  expected: string,
): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  badValue,
  detail: `must be ${expected}`,
});

/**
 * Where bodies have to say what they hold, `body` does: `named` was read from it.
 * @throws StatusError 400
 */
export function mustNameItself(
  { kind: of, namesItself = false }: Omit<BodyKind, 'type'>,
  named: NamedKind,
  body: Uint8Array,
): void {
  if (!namesItself) return;
  if (textOr(named.kind, '') === '') {
    const text = Buffer.from(body.subarray(0, limits.quotedBodyBytesMax)).toString('utf8');
    throw badRequest(
      `the object provided is unrecognized (must be of type ${of.kind}): ` +
        `Object 'Kind' is missing in '${text}' (${summaryOf(body)})`,
    );
  }
  if (textOr(named.apiVersion, '') === '') throw otherVersion(of, '');
}

const summaryBytes = 30;
const openBrace = 0x7b;

/** The begin of a body: as text where it looks like JSON, else in hexadecimal digits. */
function summaryOf(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const shown = Buffer.from(body.subarray(0, summaryBytes));
  const text = shown.toString(body[0] === openBrace ? 'utf8' : 'hex');
  return body.length > summaryBytes ? `${text} ...` : text;
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
  const texts = problems.map(problemText);
  if (level === 'Strict') {
    const { kind, version } = resource.kind;
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ` +
        `strict decoding error: ${texts.join(', ')}`,
    );
  }
  for (const text of texts) if (!warnings.includes(text)) warnings.push(text);
}

const problemText = ({ kind, path, within }: FieldProblem): string =>
  `${within === undefined ? '' : `${within} `}${kind} field ${JSON.stringify(path)}`;

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
    statedOptions: options.stated,
    subresource,
    warnings: request.warnings,
    annotations: request.annotations,
    webhookTrail: request.webhookTrail,
    nowMs: parts.clock.nowMs(),
    apiVersion: apiVersionOf(parts.resource),
    permissions: request.permissions,
  };
}

/**
 * What mutating admission makes of an object, read through the schema again where rules of the API
 * changed something: they cannot store what a body could not. `object` is used up.
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
  const owners = object.metadata?.managedFields;
  const changed = parts.admission.mutate(attributes, object, signal);
  if ((changed instanceof Promise ? await changed : changed) !== 'byConfigured') return object;
  try {
    const read = readObject(object, parts.storedAs.type).object;
    mergeOwners(read, warnings, ' after mutating admission happens');
    keepReadableOwners(read, owners, warnings);
    return read;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw internalError(`admission made an object that fits no schema: ${error.message}`);
  }
}

/** Managed fields that nobody can read any more are those from before again. */
function keepReadableOwners(
  { metadata }: ApiObject,
  before: JsonValue[] | undefined,
  warnings: string[],
): void {
  if (metadata === undefined || readOwners(metadata.managedFields) !== undefined) return;
  if (before === undefined) delete metadata.managedFields;
  else metadata.managedFields = before;
  warnings.push(
    '.metadata.managedFields was in an invalid state after admission; this could be caused by ' +
      'an outdated mutating admission controller; please fix your requests',
  );
}

/** What admission is shown of an update, where that is not the object itself. */
export interface ShownAs {
  readonly form: AdmissionForm;
  /** A new object; `object` is as it is judged and is not changed. */
  show(object: Readonly<ApiObject>, signal: AbortSignal): MaybePromise<ApiObject>;
  /** Takes over into `object` what admission has made of what it was shown. */
  take(object: ApiObject, shown: Readonly<ApiObject>): void;
}

/** As `mutated`, through what is shown of `object`. */
export async function mutatedAs(
  parts: StoreParts,
  shownAs: ShownAs,
  attributes: AdmissionRequest,
  object: ApiObject,
  context: Pick<WriteContext, 'warnings'>,
  signal: AbortSignal,
): Promise<ApiObject> {
  const shown = await shownAs.show(object, signal);
  const ofForm = { ...parts, storedAs: shownAs.form.record };
  shownAs.take(object, await mutated(ofForm, attributes, shown, context, signal));
  return object;
}

/** What admission is told of a write. */
export function admissionRequest(
  parts: StoreParts,
  change: Pick<AdmissionRequest, 'operation' | 'old'> & { readonly key: ItemKey },
  context: AdmissionContext,
  form: AdmissionForm = ownForm(parts),
): AdmissionRequest {
  return new DescribedWrite(parts, change, context, form);
}

/** Made twice for every write: a class, since a literal with an accessor costs thrice its time. */
class DescribedWrite implements AdmissionRequest {
  readonly operation: AdmissionRequest['operation'];
  readonly resource: ResourceInfo;
  readonly subresource: string;
  readonly kind: AdmissionRequest['kind'];
  readonly form: ResourceInfo;
  readonly namespace: string;
  readonly name: string;
  readonly user: AdmissionRequest['user'];
  readonly dryRun: boolean;
  readonly convert: AdmissionRequest['convert'];
  readonly webhookTrail: AdmissionRequest['webhookTrail'];
  readonly old: AdmissionRequest['old'];
  readonly #naming: StoreParts['naming'];
  readonly #context: AdmissionContext;

  constructor(
    { resource, naming }: StoreParts,
    { operation, old, key }: Parameters<typeof admissionRequest>[1],
    context: AdmissionContext,
    form: AdmissionForm,
  ) {
    this.operation = operation;
    this.resource = resource;
    this.subresource = context.subresource;
    this.kind = form.kind;
    this.form = form.record;
    this.namespace = key.namespace;
    this.name = key.name;
    this.user = context.user;
    this.dryRun = context.dryRun && operation !== 'CONNECT';
    this.convert = form.convert;
    this.webhookTrail = context.webhookTrail;
    this.old = old;
    this.#naming = naming;
    this.#context = context;
  }

  get options(): AdmissionRequest['options'] {
    return shownOptions(this.#naming, this.operation, this.#context);
  }

  warn(text: string): void {
    const { warnings } = this.#context;
    if (!warnings.includes(text)) warnings.push(text);
  }

  annotate(key: string, value: string, level?: 'Request'): void {
    const { annotations, webhookTrail } = this.#context;
    (level === 'Request' ? webhookTrail?.details : annotations)?.set(key, value);
  }
}

type AdmissionContext = Pick<
  WriteContext,
  'user' | 'dryRun' | 'subresource' | 'warnings' | 'annotations' | 'webhookTrail' | 'statedOptions'
>;

/** How admission is shown the object of a write. */
export interface AdmissionForm extends Pick<AdmissionRequest, 'kind' | 'convert'> {
  readonly record: ResourceInfo;
}

/** The object itself, as it is judged. */
const ownForm = (parts: StoreParts): AdmissionForm => ({
  kind: parts.resource.kind,
  record: parts.storedAs,
  convert: parts.convert,
});

/** An object of a kind that has but one version: what is posted to a subresource, a scale. */
export const singleForm = (record: ResourceInfo): AdmissionForm => ({
  kind: record.kind,
  record,
  convert: (object) => object,
});

const optionKinds = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: undefined,
} as const;

function shownOptions(
  naming: StoreParts['naming'],
  operation: AdmissionRequest['operation'],
  { statedOptions, dryRun }: AdmissionContext,
): AdmissionRequest['options'] {
  const kind = optionKinds[operation];
  if (kind === undefined) return undefined;
  const apiVersion = naming.resolve('meta.{v}/v1');
  return { kind, apiVersion, ...statedOptions, ...(dryRun ? { dryRun: ['All'] } : {}) };
}
