// Runs a request through the filters, each around all that follow it; the paths that are no
// resources come last.
import type { FailureHandler } from './filters/panic.ts';
import type { Filter, HttpRequest, HttpResponse, Next } from './request-context.ts';

export interface FilterRun {
  readonly filters: readonly Filter[];
  /** Takes what no filter answered; `fail` is for requests that it does not answer either. */
  readonly operatorPaths: (
    request: never,
    response: never,
    fail: (error?: unknown) => void,
  ) => void;
  readonly onFailure: FailureHandler;
}

/**
 * One closure a request, which knows how far it came: what a Router keeps for each layer would live
 * as long as the request waits, and be copied by every collection meanwhile.
 */
export function filterRunner(
  options: FilterRun,
): (request: HttpRequest, response: HttpResponse) => void {
  const { filters, operatorPaths, onFailure } = options;
  return (request, response) => {
    const fail = (error: unknown): void => onFailure(error, request, response);
    let position = 0;
    const next: Next = () => {
      const filter = filters[position++];
      if (filter !== undefined) return filter(request, response, next);
      operatorPaths(request as never, response as never, fail);
    };
    try {
      next()?.catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  };
}
