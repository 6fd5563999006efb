// Runs a request through the filters, each around all that follow it.
import { pathNotFound } from '../base/status.ts';
import type { Filter, HttpRequest, HttpResponse, Next } from './request-context.ts';

/**
 * A request knows how far it came: what a Router keeps for each layer would live as long as the
 * request waits, and be copied by every collection meanwhile.
 */
export function filterRunner(
  filters: readonly Filter[],
): (request: HttpRequest, response: HttpResponse) => void {
  const closers = filters.map(({ closed }) => closed);
  return (request, response) => {
    const passing = new Passing(filters, request, response);
    response.on('close', () => passing.close(closers));
    void passing.next();
  };
}

class Passing {
  readonly #filters: readonly Filter[];
  readonly #request: HttpRequest;
  readonly #response: HttpResponse;
  #position = 0;

  constructor(filters: readonly Filter[], request: HttpRequest, response: HttpResponse) {
    this.#filters = filters;
    this.#request = request;
    this.#response = response;
  }

  readonly next: Next = () => {
    const filter = this.#filters[this.#position++];
    if (filter === undefined) throw pathNotFound(); // no filter took it: the target is no path
    return filter(this.#request, this.#response, this.next);
  };

  /** What goes on after that comes to no further filter. */
  close(closers: readonly Filter['closed'][]): void {
    while (--this.#position >= 0) closers[this.#position]?.(this.#request, this.#response);
  }
}
