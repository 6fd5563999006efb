// Events that are lost are counted one by one, and told of in the log once in a while: a log line
// for each would be as many as there are requests.
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import type { Plugin } from './backend.ts';

export class LostEvents {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #untold = new Map<Plugin, { count: number; reason: string }>();
  #cancel: (() => void) | undefined;

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** The first ones are told of at once. */
  add(plugin: Plugin, count: number, reason: string): void {
    const untold = this.#untold.get(plugin) ?? { count: 0, reason };
    untold.count += count;
    untold.reason = reason;
    this.#untold.set(plugin, untold);
    if (this.#cancel === undefined) this.tell();
  }

  /** Of all that was not told of yet. */
  tell(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#untold.size === 0) return;
    for (const [plugin, { count, reason }] of this.#untold) {
      this.#logger.error('audit events are lost', { plugin, count, reason });
    }
    this.#untold.clear();
    this.#cancel = this.#clock.after(limits.auditLossToldIntervalMs, () => this.tell());
  }
}
