// GET of one object and of a collection: options in, items out as bytes; no semantics of its own.
import { methodNotAllowed } from '../../base/status.ts';
import { parseGetOptions, parseListOptions } from '../../registry/options.ts';
import type { ListAnswer } from '../../registry/requests.ts';
import { recordAnswer, recordList } from '../audited-objects.ts';
import type { HttpRequest, HttpResponse, RequestContext, RequestInfo } from '../request-context.ts';
import { sendBytes, sendPieces } from '../respond.ts';
import type { ResponseOptions } from '../respond.ts';
import type { Serializer, Serializers } from '../serializers.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import type { StoreHandler, TargetHandler } from './resources.ts';

export interface ReadOptions extends ResponseOptions {
  readonly serializers: Serializers;
  /** undefined: requests are not traced. */
  readonly tracing?: Tracing | undefined;
}

export function getHandler(options: ReadOptions): TargetHandler {
  return async function get(target, request, response) {
    const { context } = request;
    if (target.get === undefined) throw methodNotAllowed();
    const serializer = options.serializers.of(request, target.resource, 'object');
    options.tracing?.event('About to Get from storage');
    const item = await target.get({
      path: pathOf(context),
      options: parseGetOptions(context.info.query),
      signal: context,
    });
    recordAnswer(request, serializer, item);
    const answer = { status: 200, contentType: serializer.contentType };
    return sendBytes(request, response, answer, serializer.object(item), options);
  };
}

export function listHandler(options: ReadOptions): StoreHandler {
  return async function list(store, request, response) {
    const { context } = request;
    const serializer = options.serializers.of(request, store.resource, 'list');
    options.tracing?.event('About to List from storage');
    const answer = await store.list({
      namespace: namespaceOf(context.info),
      name: '',
      options: parseListOptions(context.info.query),
      signal: context.signal,
    });
    await sendList(serializer, answer, request, response, options);
  };
}

export async function sendList(
  serializer: Serializer,
  answer: ListAnswer,
  request: HttpRequest,
  response: HttpResponse,
  options: ReadOptions,
): Promise<void> {
  options.tracing?.event('Listing from storage done', { count: answer.items.length });
  const head = { status: 200, contentType: serializer.contentType };
  const pieces = await serializer.list(answer);
  await recordList(request, serializer, answer);
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
