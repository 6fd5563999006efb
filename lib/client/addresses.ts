// The addresses of one target: which one the next connection is made to. Connections spread over
// them, and one that could not be reached comes last until it has rested.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';

export interface Address {
  readonly ip: string;
  /** When it is another than that of the URL, as behind a service. */
  readonly port?: number;
}

/**
 * Where a host is, one address or more. Who has to refuse some (a proxy) checks them here: calls go
 * to these and nowhere else, the name is not looked up again. Rejects when there is none.
 */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly Address[]>;

/** Asks the system, as other programs do: its files, then its name servers. */
export const resolveBySystem: Resolve = async (host) => {
  if (isIP(host) !== 0) return [{ ip: host }];
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => ({ ip: address }));
};

interface Known {
  openCount: number;
  failedAtMs: number;
}

export class AddressBook {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  #turn = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * In the order in which they are to be tried: rested before failed, fewest connections first, and
   * among equals another one first each time.
   */
  inOrder(found: readonly Address[]): Address[] {
    this.#forget(new Set(found.map(keyOf)));
    const start = found.length === 0 ? 0 : this.#turn++ % found.length;
    return [...found.slice(start), ...found.slice(0, start)]
      .map((address) => ({
        address,
        isResting: this.isResting(address),
        openCount: this.#known.get(keyOf(address))?.openCount ?? 0,
      }))
      .sort((a, b) => Number(a.isResting) - Number(b.isResting) || a.openCount - b.openCount)
      .map(({ address }) => address);
  }

  isResting(address: Address): boolean {
    const failedAtMs = this.#known.get(keyOf(address))?.failedAtMs ?? -Infinity;
    return this.#clock.monotonicMs() - failedAtMs < limits.clientAddressRestMs;
  }

  opened(address: Address): void {
    const known = this.#knownOf(address);
    known.openCount++;
    known.failedAtMs = -Infinity;
  }

  closed(address: Address): void {
    this.#knownOf(address).openCount--;
  }

  failed(address: Address): void {
    this.#knownOf(address).failedAtMs = this.#clock.monotonicMs();
  }

  #knownOf(address: Address): Known {
    let known = this.#known.get(keyOf(address));
    if (known === undefined) {
      known = { openCount: 0, failedAtMs: -Infinity };
      this.#known.set(keyOf(address), known);
    }
    return known;
  }

  /** Addresses that the name has no more, once nothing is connected to them. */
  #forget(present: ReadonlySet<string>): void {
    for (const [key, { openCount }] of this.#known) {
      if (openCount === 0 && !present.has(key)) this.#known.delete(key);
    }
  }
}

const keyOf = ({ ip, port = 0 }: Address): string => `${ip} ${port}`;
