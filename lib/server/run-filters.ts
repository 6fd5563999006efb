// Runs a request through the filters, each around all that follow it.
import { pathNotFound } from '../base/status.ts';
import type { Filter, HttpRequest, HttpResponse, Next } from './request-context.ts';

/**
 * Two closures a request, which know how far it came: what a Router keeps for each layer would live
 * as long as the request waits, and be copied by every collection meanwhile.
 */
export function filterRunner(
  filters: readonly Filter[],
): (request: HttpRequest, response: HttpResponse) => void {
  return (request, response) => {
    let position = 0;
    const next: Next = () => {
      const filter = filters[position++];
      if (filter === undefined) throw pathNotFound(); // no filter took it: the target is no path
      return filter(request, response, next);
    };
    response.on('close', () => {
      while (--position >= 0) filters[position]?.closed?.(request, response);
    });
    void next();
  };
}
