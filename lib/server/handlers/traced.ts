// Verbs with a span each, named and described as kube-apiserver's. A watch has none besides that of
// its request.
import type { SpanAttributes, Tracing } from '../../telemetry/tracing.ts';
import type { HttpRequest, HttpResponse } from '../request-context.ts';
import type { VerbHandlers } from './resources.ts';

type Handle<Target> = (
  target: Target,
  request: HttpRequest,
  response: HttpResponse,
) => Promise<void>;

export function tracedHandlers(handlers: VerbHandlers, tracing: Tracing): VerbHandlers {
  const traced =
    <Target>(name: string, handle: Handle<Target>): Handle<Target> =>
    (target, request, response) =>
      tracing.within(
        name,
        () => attributesOf(request),
        () => handle(target, request, response),
      );
  return {
    ...handlers,
    get: traced('Get', handlers.get),
    list: traced('List', handlers.list),
    create: traced('Create', handlers.create),
    update: traced('Update', handlers.update),
    patch: traced('Patch', handlers.patch),
    delete: traced('Delete', handlers.delete),
    deletecollection: traced('Delete', handlers.deletecollection),
  };
}

function attributesOf({ context, headers, socket, httpVersion }: HttpRequest): SpanAttributes {
  const { info, labels, auditId } = context;
  return {
    accept: headers.accept,
    'audit-id': auditId,
    client: socket.remoteAddress,
    protocol: `HTTP/${httpVersion}`,
    resource: info.resource,
    scope: labels.scope,
    url: info.path,
    'user-agent': headers['user-agent'],
    verb: labels.verb,
  };
}
