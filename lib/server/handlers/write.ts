// POST, PUT, PATCH and DELETE: bodies in by their media type, verbs of the registry, the written
// object out.
import type { TypeInfo } from '../../api/type-info.ts';
import { nameOfAgent } from '../../api/meta.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { anonymousUser } from '../../base/user.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import { limits } from '../../base/limits.ts';
import { methodNotAllowed } from '../../base/status.ts';
import { isLongTurn, ownTurn } from '../../base/turn.ts';
import { cborAsJson } from '../../codec/cbor.ts';
import type { Decoded } from '../../codec/codec.ts';
import { isYaml, negotiatePatch } from '../../codec/negotiate.ts';
import type { PatchOffers } from '../../codec/negotiate.ts';
import type { Permissions } from '../../kinds/strategy.ts';
import { mustBeOf, mustNameItself } from '../../registry/incoming.ts';
import {
  mustBeDeleteOptions,
  parseDeleteOptions,
  parseListOptions,
  parseWriteOptions,
} from '../../registry/options.ts';
import type { WriteVerb } from '../../registry/options.ts';
import type {
  DeleteOptions,
  RequestScope,
  WriteAnswer,
  WriteOptions,
} from '../../registry/requests.ts';
import type { VerbTarget } from '../../registry/verb-target.ts';
import {
  recordAction,
  recordAnswer,
  recordObject,
  recordOptions,
  recordPatch,
} from '../audited-objects.ts';
import { readBody } from '../body.ts';
import type { YamlBodies } from '../../codec/yaml-bodies.ts';
import { attributesOf, refusal } from '../filters/authorize.ts';
import type { HttpRequest, HttpResponse } from '../request-context.ts';
import { sendBytes } from '../respond.ts';
import type { Serializer } from '../serializers.ts';
import { namespaceOf, pathOf, sendList } from './read.ts';
import type { ReadOptions } from './read.ts';
import type { StoreHandler, TargetHandler, VerbHandlers } from './resources.ts';

export interface WriteHandlerOptions extends ReadOptions {
  readonly naming: NamingProfile;
  readonly authorizer: Authorizer;
  readonly deleteOptionsType: TypeInfo;
  readonly patches: PatchOffers;
  readonly yaml: YamlBodies;
}

type WriteHandlers = Pick<
  VerbHandlers,
  'create' | 'update' | 'patch' | 'delete' | 'deletecollection'
>;

/** Each asks for its serializer first: a 406 comes before anything is written. */
export function writeHandlers(options: WriteHandlerOptions): WriteHandlers {
  return {
    create: createHandler(options),
    update: updateHandler(options),
    patch: patchHandler(options),
    delete: deleteHandler(options),
    deletecollection: deleteCollectionHandler(options),
  };
}

function createHandler(options: WriteHandlerOptions): TargetHandler {
  return async function create(target, request, response) {
    if (target.create === undefined) throw methodNotAllowed();
    const shown = target.createAnswer ?? target.resource;
    const serializer = options.serializers.of(request, shown, 'object');
    const writeOptions = writeOptionsOf(request, 'create', options);
    const body = decoded(options, request, target, await bodyOf(options, request));
    options.tracing?.event(aboutToStore);
    const answer = await target.create({
      ...scopeOf(request),
      permissions: permissionsOf(options.authorizer, request),
      path: pathOf(request.context),
      body,
      options: writeOptions,
    });
    if (target.createAnswer !== undefined) recordAction(request);
    await sendWritten(options, serializer, request, response, answer);
  };
}

function updateHandler(options: WriteHandlerOptions): TargetHandler {
  return async function update(target, request, response) {
    if (target.update === undefined) throw methodNotAllowed();
    const { context } = request;
    const serializer = options.serializers.of(request, target.resource, 'object');
    const writeOptions = writeOptionsOf(request, 'update', options);
    const bytes = await bodyOf(options, request);
    const body = decoded(options, request, target, bytes);
    options.tracing?.event(aboutToStore);
    const answer = await target.update({
      ...scopeOf(request),
      permissions: permissionsOf(options.authorizer, request),
      path: pathOf(context),
      body,
      readAgain: () => options.serializers.decode(request, bytes, target.input.type),
      options: writeOptions,
      authorizeCreate: () => mustBeAllowed(options.authorizer, request, { verb: 'create' }),
    });
    await sendWritten(options, serializer, request, response, answer);
  };
}

function patchHandler(options: WriteHandlerOptions): TargetHandler {
  return async function patch(target, request, response) {
    if (target.patch === undefined) throw methodNotAllowed();
    const { context } = request;
    const serializer = options.serializers.of(request, target.resource, 'object');
    const offers = patchOffers(options.patches, target);
    const { name: kind, cbor } = negotiatePatch(request.headers['content-type'], offers);
    const writeOptions = writeOptionsOf(request, kind, options);
    const body = await bodyOf(options, request);
    const patch = cbor ? cborAsJson(body) : body;
    recordPatch(request, patch);
    options.tracing?.event(aboutToStore);
    const answer = await target.patch({
      ...scopeOf(request),
      permissions: permissionsOf(options.authorizer, request),
      path: pathOf(context),
      kind,
      options: writeOptions,
      patch,
      authorizeCreate: () => mustBeAllowed(options.authorizer, request, { verb: 'create' }),
    });
    await sendWritten(options, serializer, request, response, answer);
  };
}

/** Of what the server takes, what the target takes. */
function patchOffers(offers: PatchOffers, { patches }: VerbTarget): PatchOffers {
  if (patches === undefined) return offers;
  return { ...offers, names: offers.names.filter((name) => patches.includes(name)) };
}

function writeOptionsOf(
  { context, headers }: HttpRequest,
  verb: WriteVerb,
  { naming }: WriteHandlerOptions,
): WriteOptions {
  const options = parseWriteOptions(context.info.query, verb, naming);
  if (options.fieldManager !== '') return options;
  return { ...options, fieldManager: nameOfAgent(headers['user-agent'] ?? '') };
}

function deleteHandler(options: WriteHandlerOptions): StoreHandler {
  const unsafe = { verb: 'unsafe-delete-ignore-read-errors' };
  return async function deleteOne(store, request, response) {
    const serializer = options.serializers.of(request, store.resource, 'object');
    const deleteOptions = await readDeleteOptions(options, request);
    options.tracing?.event('About to delete object from database');
    const answer = await store.delete({
      ...scopeOf(request),
      path: pathOf(request.context),
      options: deleteOptions,
      authorizeUnsafeDelete: () => mustBeAllowed(options.authorizer, request, unsafe),
    });
    options.tracing?.event('Object deleted from database');
    if (answer.kind === 'object') {
      // Clients that state a policy instead have always been answered 200.
      const isPromised = answer.isKept && deleteOptions.orphanDependents === false;
      await sendObject(options, serializer, request, response, isPromised ? 202 : 200, answer);
      return;
    }
    request.context.audit?.answeredStatus(answer.status);
    const head = { status: 200, contentType: serializer.contentType };
    await sendBytes(request, response, head, serializer.status(answer.status), options);
  };
}

function deleteCollectionHandler(options: WriteHandlerOptions): StoreHandler {
  return async function deleteCollection(store, request, response) {
    const { info } = request.context;
    const serializer = options.serializers.of(request, store.resource, 'list');
    const list = parseListOptions(info.query);
    const answer = await store.deleteCollection({
      ...scopeOf(request),
      namespace: namespaceOf(info),
      list,
      options: await readDeleteOptions(options, request),
    });
    await sendList(serializer, answer, request, response, options);
  };
}

/** As kube-apiserver words it. */
const aboutToStore = 'About to store object in database';

/** The body of a request, large YAML as JSON. @throws StatusError 413, 415, 400, 429. */
async function bodyOf({ yaml }: WriteHandlerOptions, request: HttpRequest): Promise<Uint8Array> {
  const { signal } = request.context;
  const body = await readBody(request, signal);
  // Many may end in one turn; small ones are not worth a turn of their own.
  const isLarge = body.length >= limits.largeBodyBytes;
  if (isLarge && isLongTurn(limits.writeTurnMsMax)) await ownTurn();
  return isYaml(request.headers['content-type']) ? yaml.asJson(body, signal) : body;
}

/** The object of a body. @throws StatusError 415, 400. */
function decoded(
  { serializers }: WriteHandlerOptions,
  request: HttpRequest,
  { input }: VerbTarget,
  body: Uint8Array,
): Decoded {
  const read = serializers.decode(request, body, input.type, (named) => mustBeOf(input, named));
  mustNameItself(input, read.object, body);
  recordObject(request, read.object, input);
  return read;
}

/** From the body and the query; the body wins. @throws StatusError 413, 415, 400. */
async function readDeleteOptions(
  options: WriteHandlerOptions,
  request: HttpRequest,
): Promise<DeleteOptions> {
  const { serializers, deleteOptionsType, naming } = options;
  const { info } = request.context;
  const bytes = await bodyOf(options, request);
  const body =
    bytes.length === 0
      ? undefined
      : serializers.decode(request, bytes, deleteOptionsType, mustBeDeleteOptions).object;
  if (body !== undefined) recordOptions(request, body, deleteOptionsType);
  return parseDeleteOptions(info.query, body, naming);
}

/** A verb that the request turned out to need besides its own. @throws StatusError 403. */
async function mustBeAllowed(
  authorizer: Authorizer,
  request: HttpRequest,
  change: { readonly verb: string },
): Promise<void> {
  const attributes = attributesOf(request.context, change);
  const decision = await authorizer.authorize(attributes, request.context.signal);
  if (decision.effect !== 'allow') throw refusal(attributes, decision.reason);
}

/** For rules of kinds that ask for more than the request's own verb. */
const permissionsOf = (authorizer: Authorizer, { context }: HttpRequest): Permissions => ({
  verb: context.info.verb,
  async refusalOf(permission) {
    const attributes = attributesOf(context, permission);
    const { effect, reason } = await authorizer.authorize(attributes, context.signal);
    return effect === 'allow' ? undefined : refusal(attributes, reason).message;
  },
});

/** Who asks, and how long. */
export function scopeOf(request: HttpRequest): RequestScope {
  const { context } = request;
  const { user, warnings, auditAnnotations, signal } = context;
  return {
    user: user ?? anonymousUser,
    warnings,
    annotations: auditAnnotations,
    webhookTrail: context.webhookTrail,
    signal,
  };
}

async function sendWritten(
  options: WriteHandlerOptions,
  serializer: Serializer,
  request: HttpRequest,
  response: HttpResponse,
  answer: WriteAnswer,
): Promise<void> {
  options.tracing?.event('Write to database call succeeded');
  if (isLongTurn(limits.writeTurnMsMax)) await ownTurn();
  const status = answer.created ? 201 : 200;
  await sendObject(options, serializer, request, response, status, answer);
}

function sendObject(
  options: WriteHandlerOptions,
  serializer: Serializer,
  request: HttpRequest,
  response: HttpResponse,
  status: number,
  { item, written }: Pick<WriteAnswer, 'item' | 'written'>,
): void | Promise<void> {
  options.tracing?.event('About to write a response');
  recordAnswer(request, serializer, item);
  const head = { status, contentType: serializer.contentType };
  return sendBytes(request, response, head, serializer.object(item, written), options);
}
