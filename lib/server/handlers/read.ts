// GET of one object and of a collection: options in, items out as bytes; no semantics of its own.
import type { NamingProfile } from '../../api/vendor.ts';
import { methodNotAllowed } from '../../base/status.ts';
import { parseGetOptions, parseListOptions } from '../../registry/options.ts';
import type { VerbTarget } from '../../registry/verb-target.ts';
import type { HttpRequest, HttpResponse, RequestContext, RequestInfo } from '../request-context.ts';
import type { Representation } from '../representation.ts';
import { sendBytes, sendPieces } from '../respond.ts';
import type { ResponseOptions } from '../respond.ts';
import type { StoreHandler, TargetHandler } from './resources.ts';

export interface ReadOptions extends ResponseOptions {
  readonly naming: NamingProfile;
  /** @throws StatusError 406. */
  readonly representationOf: (
    request: HttpRequest,
    target: Pick<VerbTarget, 'resource'>,
    shape: 'object' | 'list',
  ) => Representation;
}

export function getHandler(options: ReadOptions): TargetHandler {
  return async function get(target, request, response) {
    const { context } = request;
    if (target.get === undefined) throw methodNotAllowed();
    const representation = options.representationOf(request, target, 'object');
    const item = await target.get({
      path: pathOf(context),
      options: parseGetOptions(context.info.query),
      signal: context,
    });
    const answer = { status: 200, contentType: representation.contentType };
    return sendBytes(request, response, answer, representation.object(item), options);
  };
}

export function listHandler(options: ReadOptions): StoreHandler {
  return async function list(store, request, response) {
    const { context } = request;
    const representation = options.representationOf(request, store, 'list');
    const answer = await store.list({
      namespace: namespaceOf(context.info),
      name: '',
      options: parseListOptions(context.info.query),
      signal: context.signal,
    });
    await sendList(representation, answer, request, response, options);
  };
}

export async function sendList(
  representation: Representation,
  answer: Parameters<Representation['list']>[0],
  request: HttpRequest,
  response: HttpResponse,
  options: ResponseOptions,
): Promise<void> {
  const head = { status: 200, contentType: representation.contentType };
  const pieces = await representation.list(answer);
  await sendPieces(request, response, head, pieces, options);
}

/** Where the object of a request lives. */
export const pathOf = ({
  info,
}: RequestContext): { namespace: string; name: string; subresource: string } => ({
  namespace: namespaceOf(info),
  name: info.name,
  subresource: info.subresource,
});

/** The namespace that holds what a request asks for; '' for cluster-scoped objects and all. */
export const namespaceOf = (info: RequestInfo): string =>
  info.isInNamespace ? info.namespace : '';
