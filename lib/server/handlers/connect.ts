// Hands a request to a subresource that answers it by itself, over whatever protocol: the client
// ends it, or a drain.
import type { ConnectResponse } from '../../registry/requests.ts';
import type { Subresource } from '../../registry/verb-target.ts';
import type { HttpRequest, HttpResponse } from '../request-context.ts';
import { upgradeOf } from '../upgrade.ts';
import { pathOf } from './read.ts';
import { scopeOf } from './write.ts';

export function connect(
  handOver: NonNullable<Subresource['connect']>,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const { context } = request;
  const { info } = context;
  context.startStreaming(Infinity);
  return handOver({
    ...scopeOf(request),
    path: pathOf(context),
    rest: info.rest,
    query: info.query,
    request,
    response: response as ConnectResponse,
    upgrade: upgradeOf(request),
  });
}
