// POST, PUT, PATCH and DELETE: bodies in by their media type, verbs of the registry, the written
// object out.
import type { NamingProfile } from '../../api/vendor.ts';
import { anonymousUser } from '../../base/user.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import { methodNotAllowed } from '../../base/status.ts';
import type { Item } from '../../cacher/resource-view.ts';
import { cborAsJson } from '../../codec/cbor.ts';
import type { ApiObject, Decoded } from '../../codec/codec.ts';
import type { NegotiatedPatch } from '../../codec/negotiate.ts';
import { parseDeleteOptions, parseListOptions, parseWriteOptions } from '../../registry/options.ts';
import type { DeleteOptions, RequestScope, WriteAnswer } from '../../registry/requests.ts';
import type { VerbTarget } from '../../registry/verb-target.ts';
import { readBody } from '../body.ts';
import { attributesOf, refusal } from '../filters/authorize.ts';
import type { Representation } from '../representation.ts';
import type { HttpRequest, HttpResponse } from '../request-context.ts';
import { sendBytes } from '../respond.ts';
import { namespaceOf, pathOf, sendList } from './read.ts';
import type { ReadOptions } from './read.ts';
import type { StoreHandler, TargetHandler, VerbHandlers } from './resources.ts';

export interface WriteHandlerOptions extends ReadOptions {
  readonly naming: NamingProfile;
  readonly authorizer: Authorizer;
  /** The object of a body. @throws StatusError 415, 400. */
  readonly decodeBody: (request: HttpRequest, target: VerbTarget, body: Uint8Array) => Decoded;
  /** DeleteOptions of a body; undefined for an empty one. @throws StatusError 415, 400. */
  readonly decodeDeleteOptions: (request: HttpRequest, body: Uint8Array) => ApiObject | undefined;
  /** By Content-Type. @throws StatusError 415. */
  readonly patchOf: (request: HttpRequest) => NegotiatedPatch;
}

type WriteHandlers = Pick<
  VerbHandlers,
  'create' | 'update' | 'patch' | 'delete' | 'deletecollection'
>;

/** Each asks for its representation first: a 406 comes before anything is written. */
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
    const { info, signal } = request.context;
    const representation = options.representationOf(request, target, 'object');
    const writeOptions = parseWriteOptions(info.query, 'create', options.naming);
    const body = options.decodeBody(request, target, await readBody(request, signal));
    const answer = await target.create({
      ...scopeOf(request),
      path: pathOf(request.context),
      body,
      options: writeOptions,
    });
    await sendWritten(options, representation, request, response, answer);
  };
}

function updateHandler(options: WriteHandlerOptions): TargetHandler {
  return async function update(target, request, response) {
    if (target.update === undefined) throw methodNotAllowed();
    const { context } = request;
    const representation = options.representationOf(request, target, 'object');
    const writeOptions = parseWriteOptions(context.info.query, 'update', options.naming);
    const body = options.decodeBody(request, target, await readBody(request, context.signal));
    const answer = await target.update({
      ...scopeOf(request),
      path: pathOf(context),
      body,
      options: writeOptions,
      authorizeCreate: () => mustBeAllowed(options.authorizer, request, { verb: 'create' }),
    });
    await sendWritten(options, representation, request, response, answer);
  };
}

function patchHandler(options: WriteHandlerOptions): TargetHandler {
  return async function patch(target, request, response) {
    if (target.patch === undefined) throw methodNotAllowed();
    const { context } = request;
    const representation = options.representationOf(request, target, 'object');
    const { name: kind, cbor } = options.patchOf(request);
    const writeOptions = parseWriteOptions(context.info.query, kind, options.naming);
    const body = await readBody(request, context.signal);
    const answer = await target.patch({
      ...scopeOf(request),
      path: pathOf(context),
      kind,
      options: writeOptions,
      patch: cbor ? cborAsJson(body) : body,
    });
    await sendWritten(options, representation, request, response, answer);
  };
}

function deleteHandler(options: WriteHandlerOptions): StoreHandler {
  const unsafe = { verb: 'unsafe-delete-ignore-read-errors' };
  return async function deleteOne(store, request, response) {
    const representation = options.representationOf(request, store, 'object');
    const answer = await store.delete({
      ...scopeOf(request),
      path: pathOf(request.context),
      options: await readDeleteOptions(options, request),
      authorizeUnsafeDelete: () => mustBeAllowed(options.authorizer, request, unsafe),
    });
    if (answer.kind === 'object') {
      await sendObject(options, representation, request, response, 200, answer.item);
      return;
    }
    const head = { status: 200, contentType: representation.contentType };
    await sendBytes(request, response, head, representation.status(answer.status), options);
  };
}

function deleteCollectionHandler(options: WriteHandlerOptions): StoreHandler {
  return async function deleteCollection(store, request, response) {
    const { info } = request.context;
    const representation = options.representationOf(request, store, 'list');
    const list = parseListOptions(info.query);
    const answer = await store.deleteCollection({
      ...scopeOf(request),
      namespace: namespaceOf(info),
      list,
      options: await readDeleteOptions(options, request),
    });
    await sendList(representation, answer, request, response, options);
  };
}

/** From the body and the query; the body wins. */
async function readDeleteOptions(
  options: WriteHandlerOptions,
  request: HttpRequest,
): Promise<DeleteOptions> {
  const { info, signal } = request.context;
  const bytes = await readBody(request, signal);
  const body = bytes.length === 0 ? undefined : options.decodeDeleteOptions(request, bytes);
  return parseDeleteOptions(info.query, body, options.naming);
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

function scopeOf(request: HttpRequest): RequestScope {
  const { user, warnings, signal } = request.context;
  return { user: user ?? anonymousUser, warnings, signal };
}

function sendWritten(
  options: WriteHandlerOptions,
  representation: Representation,
  request: HttpRequest,
  response: HttpResponse,
  answer: WriteAnswer,
): void | Promise<void> {
  const status = answer.created ? 201 : 200;
  return sendObject(options, representation, request, response, status, answer.item);
}

function sendObject(
  options: WriteHandlerOptions,
  representation: Representation,
  request: HttpRequest,
  response: HttpResponse,
  status: number,
  item: Item,
): void | Promise<void> {
  const head = { status, contentType: representation.contentType };
  return sendBytes(request, response, head, representation.object(item), options);
}
