// apply: a configuration as the transform of the update loop (specification 2, Server-side apply).
// It is merged into the object that the request's version shows; an absent one is made from it.
import { recordAt, textAt } from '../api/json-access.ts';
import { cloneAlike, isObject, jsonEqual } from '../api/json-value.ts';
import { sortedText } from '../api/raw-json.ts';
import type { JsonObject, JsonValue, ResourceInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { applyConflict } from '../apply/conflicts.ts';
import { UnidentifiedElement } from '../apply/elements.ts';
import { applyWithLastApplied } from '../apply/last-applied.ts';
import type { Owners } from '../apply/owners.ts';
import { ownUpdate } from '../apply/ownership.ts';
import type { Applied } from '../apply/ownership.ts';
import { limits } from '../base/limits.ts';
import { isLongTurn, nextTurn } from '../base/turn.ts';
import { badRequest, conflict, StatusError } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { decodeJson, decodeText, readSentJson } from '../codec/json.ts';
import type { SentJson } from '../codec/json.ts';
import { canonicalObject, readObject } from '../codec/normalise.ts';
import { holdsRaw } from '../codec/raw-fields.ts';
import { readYaml } from '../codec/yaml-reader.ts';
import { reportProblems, toStored, writeContext } from './incoming.ts';
import { emptyObject, ownershipWrite, setOwners } from './managed-fields.ts';
import { shownObject, storedOwners } from './managed-fields.ts';
import type { WriteContext } from '../kinds/strategy.ts';
import { checkName, settleNamespace } from './object-meta.ts';
import { RepeatedApply } from './repeated-apply.ts';
import type { PatchRequest, WriteAnswer } from './requests.ts';
import type { StoreParts } from './store-parts.ts';
import { writeTransformed } from './update.ts';

export async function applyObject(store: StoreParts, request: PatchRequest): Promise<WriteAnswer> {
  const parts = store.writing ?? store;
  const { resource } = parts;
  const { path, signal } = request;
  const apply = new RepeatedApply(parts, request);
  let read: JsonObject | undefined;
  const configurationOf = (): JsonObject => (read ??= readConfiguration(request, resource));
  if (isLongTurn(limits.writeTurnMsMax)) await nextTurn(); // Reading the body has begun the turn.
  if (!apply.leaves(parts.view.peek(path))) configurationOf();
  if (isLongTurn(limits.writeTurnMsMax)) await nextTurn();
  const applied = async (old: Item | undefined): Promise<ApiObject> => {
    const configuration = configurationOf();
    const live = await shownObject(parts, old, signal);
    const context = writeContext(parts, request, path.subresource);
    const owners = await ownersBefore(parts, { old, live }, context, signal);
    if (isLongTurn(limits.writeTurnMsMax)) await nextTurn();
    const by = { ...context, operation: 'Apply' } as const;
    const write = ownershipWrite(parts, old?.object(), by, signal);
    const result = await tellingWhere(
      applyWithLastApplied(live, configuration, {
        ...write,
        owners,
        force: request.options.force === true,
        canonical: (object) => canonicalOf(object, resource),
        annotation: parts.naming.lastAppliedAnnotation,
      }),
    );
    if (isLongTurn(limits.writeTurnMsMax)) await nextTurn();
    const object = cloneAlike(appliedOf(result).object) as ApiObject;
    checkName(object, path.name);
    settleNamespace(object, resource, path.namespace);
    if (isLongTurn(limits.writeTurnMsMax)) await nextTurn();
    setOwners(object, appliedOf(result).owners);
    return toStored(parts, object, signal);
  };
  // Another version is made by conversions, of which some are made elsewhere.
  const isConverted = parts.conversion !== undefined || parts.storing !== undefined;
  const transform = async (old: Item): Promise<ApiObject | undefined> => {
    if (apply.leaves(old)) return undefined;
    const object = await applied(old);
    const mayNote = !isConverted && request.warnings.length === 0;
    if (mayNote && jsonEqual(object, old.object())) apply.hasLeft(old);
    return object;
  };
  const create = async (): Promise<ApiObject> => {
    const uid = textAt(recordAt(configurationOf(), 'metadata'), 'uid');
    if (uid !== '') {
      const message =
        `uid mismatch: the provided object specified uid ${uid}, ` +
        `and no existing object was found`;
      throw conflict(resource, path.name, message);
    }
    await request.authorizeCreate?.(signal);
    const made = await applied(undefined);
    delete made.metadata?.resourceVersion;
    return made;
  };
  return writeTransformed(parts, request, {
    transform,
    isApplied: true,
    create: path.subresource === '' ? create : undefined,
  });
}

/** @throws StatusError 400 for lists whose elements cannot be told apart. */
async function tellingWhere<T>(applying: Promise<T>): Promise<T> {
  try {
    return await applying;
  } catch (error) {
    if (!(error instanceof UnidentifiedElement)) throw error;
    throw badRequest(`failed to create typed patch object: ${error.message}`);
  }
}

/** @throws StatusError 409 */
export function appliedOf(result: Applied | Parameters<typeof applyConflict>[0]): Applied {
  if ('object' in result) return result;
  throw applyConflict(result);
}

/** Whoever made what nobody was known to manage: it cannot be taken without force. */
const beforeFirstApply = 'before-first-apply';

async function ownersBefore(
  parts: StoreParts,
  { old, live }: { readonly old: Item | undefined; readonly live: Readonly<ApiObject> },
  context: WriteContext,
  signal: AbortSignal,
): Promise<Owners> {
  const owners = storedOwners(old?.object());
  if (owners.size > 0 || old === undefined) return owners;
  const before = { ...context, fieldManager: beforeFirstApply, operation: 'Update' } as const;
  const write = ownershipWrite(parts, old.object(), before, signal);
  const change = { before: emptyObject(parts.resource), after: live };
  return (await ownUpdate(change, write, () => owners)) ?? owners;
}

/**
 * The configuration as it was sent: what it leaves out is not in it.
 * @throws StatusError 400 for what is none, or of another kind, or states its owners.
 */
export function readConfiguration(request: PatchRequest, resource: ResourceInfo): JsonObject {
  const { value, problems } = parseConfiguration(request.patch);
  if (!isObject(value)) throw badRequest('error decoding YAML: an object to apply must be a map');
  checkKind(value, resource);
  const metadata = recordAt(value, 'metadata');
  if (metadata !== undefined && (metadata['managedFields'] ?? null) !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const { fieldValidation } = request.options;
  reportProblems(resource, problems(resource.type), fieldValidation, request.warnings);
  return value;
}

/** Tools send JSON under YAML's media type; what begins like it may still be YAML. */
function parseConfiguration(body: Uint8Array): SentJson {
  const text = decodeText(body);
  if (/^\s*\{/.test(text)) {
    try {
      return readSentJson(text);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
    }
  }
  const { value, duplicates } = readYaml(text);
  return {
    value: value ?? {},
    problems: (type) => [...duplicates, ...readObject(value, type).problems],
  };
}

function checkKind(configuration: JsonObject, { kind }: ResourceInfo): void {
  const given = {
    kind: textOf(configuration['kind']),
    apiVersion: textOf(configuration['apiVersion']),
  };
  if (given.kind === kind.kind && given.apiVersion === apiVersionOf(kind)) return;
  const [group, version] = given.apiVersion.includes('/')
    ? given.apiVersion.split('/')
    : ['', given.apiVersion];
  throw badRequest(`invalid object type: ${String(group)}/${String(version)}, Kind=${given.kind}`);
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

/** Raw JSON in it keeps its text where nothing was applied to it. */
function canonicalOf(object: JsonObject, { type }: ResourceInfo): JsonObject {
  if (holdsRaw(type)) return decodeJson(sortedText(object), type).object;
  return canonicalObject(object, type);
}
