// Hands a request to a subresource that answers it by itself, over whatever protocol: the client
// ends it, or a drain.
import { readableOf, writableOf } from '../taken-over.ts';
import { upgradeOf } from '../upgrade.ts';
import { pathOf } from './read.ts';
import type { VerbHandlers } from './resources.ts';
import { scopeOf } from './write.ts';

export const connect: VerbHandlers['connect'] = (handOver, request, response) => {
  const { context } = request;
  const { info } = context;
  context.startStreaming(Infinity);
  return handOver({
    ...scopeOf(request),
    path: pathOf(context),
    rest: info.rest,
    query: info.query,
    request: readableOf(request),
    response: writableOf(response),
    upgrade: upgradeOf(request),
  });
};
