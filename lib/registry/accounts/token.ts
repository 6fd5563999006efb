// The `token` subresource of service accounts: a TokenRequest is answered with a token that ends
// with its time, with its account, and with the Pod, Secret or Node that it is bound to.
import { ensureRecord } from '../../api/default-rule.ts';
import { isSet, numberAt, recordAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonValue, ResourceInfo, SubresourceInfo } from '../../api/type-info.ts';
import type { NamedObject, TokenBinding } from '../../authn/service-account/claims.ts';
import type { TokenIssuer } from '../../authn/service-account/token-issuer.ts';
import { formatTime } from '../../base/clock.ts';
import { badRequest, conflict, internalError, invalid, notFound } from '../../base/status.ts';
import type { FieldError } from '../../base/status.ts';
import type { Item, ItemKey } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { metaOf, nameOf } from '../../codec/object-meta.ts';
import { objectItem } from '../converted-item.ts';
import { recordOf } from '../own-kind.ts';
import { admittedBody } from '../posted-action.ts';
import type { CreateRequest } from '../requests.ts';
import { itemKeyOf } from '../store-parts.ts';
import type { StoreParts } from '../store-parts.ts';
import type { Subresource } from '../verb-target.ts';

const secondsMin = 600;
const secondsMax = 2 ** 32;

/** undefined: nobody issues tokens, or the kind of the subresource is not known. */
export function tokenSubresource(
  parts: StoreParts,
  info: SubresourceInfo,
): Subresource | undefined {
  const record = recordOf(parts, info.kind);
  const { tokens } = parts;
  if (record === undefined || tokens === undefined) return undefined;
  return {
    info,
    resource: record,
    input: record,
    async create(request) {
      const item = objectItem(await issue({ parts, record, tokens, request }), record, 0);
      return { item, created: true };
    },
  };
}

interface Asking {
  /** Of service accounts. */
  readonly parts: StoreParts;
  /** Of TokenRequests. */
  readonly record: ResourceInfo;
  readonly tokens: TokenIssuer;
  readonly request: CreateRequest;
}

/** @throws StatusError 400, 404, 409, 422, and of admission plugins. */
async function issue(asking: Asking): Promise<ApiObject> {
  const { parts, record, tokens, request } = asking;
  const { path, annotations, warnings } = request;
  const nowMs = parts.clock.nowMs();
  const asked = await admittedBody(parts, record, request, async (body) => {
    await complete(body, asking, nowMs);
    return body;
  });
  const spec = ensureRecord(asked, 'spec');
  const binding = await bindingOf(recordAt(spec, 'boundObjectRef'), asking);
  const wantedSeconds = numberAt(spec, 'expirationSeconds') ?? 0;
  const { token, id, expirationSeconds } = await tokens.issue({
    ...binding,
    namespace: path.namespace,
    account: { name: path.name, uid: textAt(asked.metadata, 'uid') },
    audiences: textsAt(spec, 'audiences'),
    expirationSeconds: wantedSeconds,
    nowMs,
  });
  if (expirationSeconds < wantedSeconds) {
    const [wanted, given] = [String(wantedSeconds), String(expirationSeconds)];
    warnings.push(`requested expiration of ${wanted} seconds shortened to ${given} seconds`);
  }
  spec['expirationSeconds'] = expirationSeconds;
  const expirationTimestamp = formatTime(nowMs + expirationSeconds * 1000);
  asked.status = { token, expirationTimestamp };
  const issued = `authentication.${parts.naming.metadataDomain}/issued-credential-id`;
  annotations?.set(issued, `JTI=${id}`);
  return asked;
}

/** What the body leaves out is the account's. @throws StatusError 404, 409, 422. */
async function complete(
  body: ApiObject,
  { parts, record, tokens, request }: Asking,
  nowMs: number,
): Promise<void> {
  const { name } = request.path;
  const meta = metaOf(body);
  if (!['', name].includes(nameOf(body))) {
    const detail = 'must match the service account name if specified';
    const field = 'metadata.name';
    throw invalid(record.kind, name, [
      { reason: 'FieldValueInvalid', field, badValue: nameOf(body), detail },
    ]);
  }
  const account = await mustGet(parts, itemKeyOf(parts, request.path), request);
  const uid = textAt(account.metadata, 'uid');
  const given = textAt(meta, 'uid');
  if (given !== '' && given !== uid) {
    const message =
      `the UID in the token request (${given}) does not match the UID of the service account ` +
      `(${uid})`;
    throw conflict(kindRef(record.kind), name, message);
  }
  Object.assign(meta, { name, uid, creationTimestamp: formatTime(nowMs) });
  delete body.status;
  const spec = ensureRecord(body, 'spec');
  if (textsAt(spec, 'audiences').length === 0) spec['audiences'] = [...tokens.audiences];
  const errors = expirationErrors(spec['expirationSeconds']);
  if (errors.length > 0) throw invalid(record.kind, '', errors);
}

/** Beyond 2^53 it is a bigint. */
function expirationErrors(given: JsonValue | undefined): FieldError[] {
  const seconds = Number(given ?? 0);
  const refusal =
    seconds < secondsMin
      ? 'may not specify a duration less than 10 minutes'
      : seconds > secondsMax
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined;
  if (refusal === undefined) return [];
  const field = 'spec.expirationSeconds';
  return [{ reason: 'FieldValueInvalid', field, badValue: given ?? 0, detail: refusal }];
}

/** @throws StatusError 400, 404, 409. */
async function bindingOf(
  reference: Readonly<Record<string, unknown>> | undefined,
  { parts, request }: Asking,
): Promise<TokenBinding> {
  if (reference === undefined) return {};
  const of = reference as ApiObject;
  const [kind, name] = [textAt(of, 'kind'), textAt(of, 'name')];
  const apiVersion = textAt(of, 'apiVersion');
  const slash = apiVersion.indexOf('/');
  const [group, version] = [apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1)];
  const resource = group === '' ? boundResources.get(kind) : undefined;
  if (resource === undefined) {
    const shown = `${group}/${version}, Kind=${kind}`;
    throw badRequest(`cannot bind token to object of type ${shown}`);
  }
  const objects = mustHave(parts, resource);
  const path = { namespace: request.path.namespace, name };
  const object = await mustGet(objects, itemKeyOf(objects, path), request);
  const uid = textAt(object.metadata, 'uid');
  const binding = await boundTo({ kind, name, uid, object }, parts, request);
  const given = textAt(of, 'uid');
  if (given === '' || given === uid) return binding;
  const message =
    `the UID in the bound object reference (${given}) does not match the UID in record. The ` +
    'object might have been deleted and then recreated';
  throw conflict({ group, resource: kind }, name, message);
}

const boundResources: ReadonlyMap<string, string> = new Map([
  ['Pod', 'pods'],
  ['Secret', 'secrets'],
  ['Node', 'nodes'],
]);

async function boundTo(
  { kind, name, uid, object }: NamedObject & { kind: string; object: Readonly<ApiObject> },
  parts: StoreParts,
  request: CreateRequest,
): Promise<TokenBinding> {
  if (kind === 'Secret') return { secret: { name, uid } };
  if (kind === 'Node') return { node: { name, uid } };
  const spec = recordAt(object, 'spec');
  if (textAt(spec, 'serviceAccountName') !== request.path.name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(request.path.name)} to pod running ` +
        'with different serviceaccount name.',
    );
  }
  const pod = { name, uid };
  if (!isSet(spec, 'nodeName') || textAt(spec, 'nodeName') === '') return { pod };
  return { pod, node: await nodeOf(textAt(spec, 'nodeName'), parts, request) };
}

/** A node that is not registered has a name alone. */
async function nodeOf(
  name: string,
  parts: StoreParts,
  { signal }: CreateRequest,
): Promise<NamedObject> {
  const { view } = mustHave(parts, 'nodes');
  const key = { namespace: '', name };
  const item = view.peek(key) ?? (await view.get(key, { mode: 'latest' }, signal));
  const isThere = item !== undefined && !item.corrupted;
  return { name, uid: isThere ? textAt(item.object().metadata, 'uid') : '' };
}

function mustHave(parts: StoreParts, resource: string): StoreParts {
  const found = parts.partsOf({ group: '', resource });
  if (found === undefined) throw internalError(`${resource} are not served`);
  return found;
}

/** As etcd has it. @throws StatusError 404. */
async function mustGet(
  parts: StoreParts,
  key: ItemKey,
  { signal }: CreateRequest,
): Promise<Readonly<ApiObject>> {
  const item: Item | undefined = await parts.view.get(key, { mode: 'latest' }, signal);
  if (item === undefined) throw notFound(parts.resource, key.name);
  return item.object();
}

const kindRef = ({ group, kind }: ResourceInfo['kind']) => ({ group, resource: kind });
