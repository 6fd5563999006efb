// patch: a patch document as the transform of the update loop. It works on the JSON that a GET
// would answer, in the request's version; the result is read back through the schema like a body.
import { applyJsonPatch, parseJsonPatch } from '../apply/json-patch.ts';
import { applyMergePatch, parseMergePatch } from '../apply/merge-patch.ts';
import { patchProblems } from '../apply/patch-problems.ts';
import { applyStrategicPatch, parseStrategicPatch } from '../apply/strategic-patch.ts';
import { cloneAlike } from '../api/json-value.ts';
import { RawJson, sortedText } from '../api/raw-json.ts';
import type { JsonValue, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { limits } from '../base/limits.ts';
import { invalid, StatusError } from '../base/status.ts';
import type { FieldError } from '../base/status.ts';
import { afterLongTurn, isLongTurn, nextTurn } from '../base/turn.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject, Decoded, FieldProblem } from '../codec/codec.ts';
import { decodeJson, readData } from '../codec/json.ts';
import type { ReadJson } from '../codec/json.ts';
import { canonicalObject, readObject } from '../codec/normalise.ts';
import { holdsRaw, keptText } from '../codec/raw-fields.ts';
import { reportProblems, toStored, wrongName } from './incoming.ts';
import { checkName, settleNamespace } from './object-meta.ts';
import { applyObject } from './apply.ts';
import type { PatchKind, PatchRequest, WriteAnswer } from './requests.ts';
import type { StoreParts } from './store-parts.ts';
import { writeTransformed } from './update.ts';

const { writeTurnMsMax } = limits;

export interface Patch {
  readonly changed: (document: JsonValue) => JsonValue;
  /** Of the patch itself, whatever it is applied to. */
  readonly problems: readonly FieldProblem[];
}

export async function patchObject(store: StoreParts, request: PatchRequest): Promise<WriteAnswer> {
  const parts = store.writing ?? store;
  const { kind } = request;
  if (kind === 'apply') return applyObject(parts, request);
  if (isLongTurn(writeTurnMsMax)) await nextTurn(); // Reading the body has begun the turn.
  const patch = readPatch(kind, request, parts.resource);
  return writeTransformed(parts, request, {
    transform: (old, at) => patchStored(at, old, patch, request),
    create: undefined,
  });
}

/** The stored object as the patch of what the request sees makes it. */
function patchStored(
  parts: StoreParts,
  old: Item,
  patch: Patch,
  request: PatchRequest,
): MaybePromise<ApiObject> {
  const { conversion, resource } = parts;
  const { signal } = request;
  const served = conversion === undefined ? old : conversion.item(old, signal);
  return whenThere(served, (item) =>
    whenThere(patchItem(resource, item, patch, request), (patched) =>
      toStored(parts, patched, signal),
    ),
  );
}

/** The patches that only look at the object. */
export type PlainPatchKind = Exclude<PatchKind, 'apply'>;

/** @throws StatusError 400 for a malformed patch. */
export function readPatch(
  kind: PlainPatchKind,
  { patch: body, options }: Pick<PatchRequest, 'patch' | 'options'>,
  { type }: Pick<ResourceInfo, 'type'>,
): Patch {
  const problems: FieldProblem[] = [];
  const changed = readChange(kind, body, type, (bytes) => {
    const read = readData(bytes, { isRaw: holdsRaw(type) });
    if (options.fieldValidation !== 'Ignore') problems.push(...patchProblems(kind, read));
    return read.value;
  });
  return { changed, problems };
}

function readChange(
  kind: PlainPatchKind,
  body: Uint8Array,
  type: TypeInfo,
  read: ReadJson,
): Patch['changed'] {
  switch (kind) {
    case 'json': {
      const operations = parseJsonPatch(body, read);
      return (document) => applyJsonPatch(document, operations);
    }
    case 'merge': {
      const patch = parseMergePatch(body, read);
      return (document) => applyMergePatch(document, patch);
    }
    case 'strategic': {
      const patch = parseStrategicPatch(body, read);
      return (document) => applyStrategicPatch(document, patch, type);
    }
  }
}

/**
 * `item`, which is shown by `resource`, as the patch changes it: read through the schema and
 * checked like a body. @throws StatusError 400, 422.
 */
export function patchItem(
  resource: ResourceInfo,
  item: Item,
  patch: Patch,
  request: PatchRequest,
): MaybePromise<ApiObject> {
  const document = patch.changed(documentOf(item, resource));
  return whenThere(afterLongTurn(writeTurnMsMax), () => {
    const { object: patched, problems } = readPatched(resource, document);
    const all = [...patch.problems, ...problems];
    return whenThere(afterLongTurn(writeTurnMsMax), () => {
      const object = cloneAlike(patched); // It shares with the item what the patch left as it was.
      mustFitRequest(resource, { object, problems: all }, request);
      return object;
    });
  });
}

/** @throws StatusError 400, 422 */
function mustFitRequest(
  resource: ResourceInfo,
  { object, problems }: Decoded,
  request: PatchRequest,
): void {
  checkKind(resource, object, request);
  checkName(object, request.path.name);
  settleNamespace(object, resource, request.path.namespace);
  reportProblems(resource, problems, request.options.fieldValidation, request.warnings);
}

/** What the patch works on: as one text where that counts. */
function documentOf(item: Item, { type }: ResourceInfo): JsonValue {
  if (!holdsRaw(type)) return item.object();
  return RawJson.of(keptText(canonicalObject(item.object(), type)));
}

/** What does not fit the schema any more is the patch's fault: 422, not 400. */
function readPatched({ type }: ResourceInfo, document: JsonValue): Decoded {
  try {
    return holdsRaw(type) ? decodeJson(sortedText(document), type) : readObject(document, type);
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    const { message: detail } = error;
    throw invalid(noKind, '', [{ reason: 'FieldValueInvalid', field: 'patch', detail }]);
  }
}

const noKind = { group: '', kind: '' };

/** What names itself is told that no schema knows the fields of another version. */
function checkKind(
  resource: ResourceInfo,
  object: Readonly<ApiObject>,
  { options, warnings }: PatchRequest,
): void {
  const { kind, namesItself = false } = resource;
  const expected = { kind: kind.kind, apiVersion: apiVersionOf(kind) };
  const errors: FieldError[] = [];
  for (const field of ['kind', 'apiVersion'] as const) {
    if (object[field] === expected[field]) continue;
    const wrong = wrongName(field, object[field] ?? null, expected[field]);
    errors.push(namesItself ? wrong : { ...wrong, detail: 'field is immutable' });
  }
  if (errors.length === 0) return;
  if (namesItself && object.apiVersion !== expected.apiVersion) {
    const fields = Object.keys(object).filter((name) => !typeMembers.has(name));
    const problems = fields.map((path) => ({ kind: 'unknown', path }) as const);
    reportProblems(resource, problems, options.fieldValidation, warnings);
  }
  throw invalid(kind, object.metadata?.name ?? '', errors);
}

const typeMembers: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata']);
