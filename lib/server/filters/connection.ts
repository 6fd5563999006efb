// Answers nothing. Counts the request in its connection, and asks clients to take the next one
// elsewhere: some by chance, all while the server drains.
import type { Connection, Connections } from '../connections.ts';
import type { Filter, HttpRequest, HttpResponse, Next } from '../request-context.ts';

export interface ConnectionFilterOptions {
  readonly connections: Connections;
  /** `--goaway-chance`: share of HTTP/2 requests whose clients are asked to reconnect. */
  readonly goawayChance: number;
}

export function connectionFilter(options: ConnectionFilterOptions): Filter {
  const countInConnection = (request: HttpRequest, response: HttpResponse, next: Next) => {
    const connection = connectionOf(request, response, options);
    if (connection !== undefined) connection.openRequests++;
    request.context.connection = connection;
    return next();
  };
  return Object.assign(countInConnection, { closed });
}

function closed({ context: { connection } }: HttpRequest): void {
  if (connection !== undefined) connection.openRequests--;
}

function connectionOf(
  request: HttpRequest,
  response: HttpResponse,
  { connections, goawayChance }: ConnectionFilterOptions,
): Connection | undefined {
  if ('stream' in request) {
    const { session } = request.stream;
    if (goawayChance > 0 && Math.random() < goawayChance) session.announceEnd();
    return connections.ofSession(session);
  }
  if (connections.isDraining && !('stream' in response)) response.setHeader('connection', 'close');
  return connections.ofSocket(request.socket);
}
