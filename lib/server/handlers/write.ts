// POST, PUT, PATCH and DELETE: bodies in by their media type, verbs of the registry, the written object out.
import type { NamingProfile } from '../../api/vendor.ts';
import { anonymousUser } from '../../authn/authenticator.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { Decoded } from '../../codec/codec.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { parseDeleteOptions, parseListOptions, parseWriteOptions } from '../../registry/options.ts';
import type { DeleteOptions, PatchKind, RequestScope, WriteAnswer } from '../../registry/requests.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { readBody } from '../body.ts';
import { attributesOf, refusal } from '../filters/authorize.ts';
import type { HttpRequest, HttpResponse } from '../request-context.ts';
import { sendBytes } from '../respond.ts';
import { pathOf, sendList } from './read.ts';
import type { ReadOptions } from './read.ts';
import type { VerbHandlers } from './resources.ts';

export interface WriteHandlerOptions extends ReadOptions {
  readonly naming: NamingProfile;
  readonly authorizer: Authorizer;
  /** The object of a body. @throws StatusError 415, 400. */
  readonly decodeBody: (request: HttpRequest, store: ResourceStore, body: Uint8Array) => Decoded;
  /** DeleteOptions of a body; undefined for an empty one. @throws StatusError 415, 400. */
  readonly decodeDeleteOptions: (request: HttpRequest, body: Uint8Array) => ApiObject | undefined;
  /** By Content-Type. @throws StatusError 415. */
  readonly patchKindOf: (request: HttpRequest) => PatchKind;
}

type WriteHandlers = Pick<VerbHandlers, 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'>;

export function writeHandlers(options: WriteHandlerOptions): WriteHandlers {
  return {
    async create(store, request, response) {
      const { info, signal } = request.context;
      options.representationOf(request, store, 'object'); // 406 before anything is written
      const writeOptions = parseWriteOptions(info.query, 'create', options.naming);
      const body = options.decodeBody(request, store, await readBody(request, signal));
      const { namespace } = info;
      const answer = await store.create({ ...scopeOf(request), namespace, body, options: writeOptions });
      await sendWritten(options, store, request, response, answer);
    },

    async update(store, request, response) {
      const { context } = request;
      options.representationOf(request, store, 'object');
      const writeOptions = parseWriteOptions(context.info.query, 'update', options.naming);
      const body = options.decodeBody(request, store, await readBody(request, context.signal));
      const answer = await store.update({
        ...scopeOf(request),
        path: pathOf(context),
        body,
        options: writeOptions,
        authorizeCreate: () => mustBeAllowed(request, { verb: 'create' }),
      });
      await sendWritten(options, store, request, response, answer);
    },

    async patch(store, request, response) {
      const { context } = request;
      options.representationOf(request, store, 'object');
      const kind = options.patchKindOf(request);
      const writeOptions = parseWriteOptions(context.info.query, kind, options.naming);
      const patch = await readBody(request, context.signal);
      const path = pathOf(context);
      const answer = await store.patch({ ...scopeOf(request), path, kind, patch, options: writeOptions });
      await sendWritten(options, store, request, response, answer);
    },

    async delete(store, request, response) {
      const { context } = request;
      const representation = options.representationOf(request, store, 'object');
      const deleteOptions = await readDeleteOptions(request);
      const answer = await store.delete({
        ...scopeOf(request),
        path: pathOf(context),
        options: deleteOptions,
        authorizeUnsafeDelete: () => mustBeAllowed(request, { verb: 'unsafe-delete-ignore-read-errors' }),
      });
      if (answer.kind === 'object') {
        const head = { status: 200, contentType: representation.contentType };
        await sendBytes(request, response, head, representation.object(answer.item), options);
        return;
      }
      const body = Buffer.from(JSON.stringify(answer.status));
      await sendBytes(request, response, { status: 200, contentType: 'application/json' }, body, options);
    },

    async deletecollection(store, request, response) {
      const { info } = request.context;
      const representation = options.representationOf(request, store, 'list');
      const list = parseListOptions(info.query);
      const deleteOptions = await readDeleteOptions(request);
      const { namespace } = info;
      const deletion = { ...scopeOf(request), namespace, list, options: deleteOptions };
      const answer = await store.deleteCollection(deletion);
      await sendList(representation, answer, request, response, options);
    },
  };

  async function readDeleteOptions(request: HttpRequest): Promise<DeleteOptions> {
    const { info, signal } = request.context;
    const bytes = await readBody(request, signal);
    const body = bytes.length === 0 ? undefined : options.decodeDeleteOptions(request, bytes);
    return parseDeleteOptions(info.query, body, options.naming);
  }

  /** A verb that the request turned out to need besides its own. */
  async function mustBeAllowed(request: HttpRequest, change: { readonly verb: string }): Promise<void> {
    const attributes = attributesOf(request.context, change);
    const decision = await options.authorizer.authorize(attributes, request.context.signal);
    if (decision.effect !== 'allow') throw refusal(attributes, decision.reason);
  }
}

function scopeOf(request: HttpRequest): RequestScope {
  const { user, warnings, signal } = request.context;
  return { user: user ?? anonymousUser, warnings, signal };
}

async function sendWritten(
  options: WriteHandlerOptions,
  store: ResourceStore,
  request: HttpRequest,
  response: HttpResponse,
  answer: WriteAnswer,
): Promise<void> {
  const representation = options.representationOf(request, store, 'object');
  const head = { status: answer.created ? 201 : 200, contentType: representation.contentType };
  await sendBytes(request, response, head, representation.object(answer.item), options);
}
