// Which webhooks the second pass asks again: those that want it and were asked before somebody
// else changed the object.
import { cloneJson, jsonEqual } from '../../api/json-value.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { ConfiguredWebhook } from './configured-webhook.ts';

export class Reinvocation {
  /** Asked already, and wanting to know of later changes. */
  #asked = new Set<string>();
  /** To be asked again. */
  readonly #again = new Set<string>();
  /** The object as the first pass of webhooks left it; kept where someone may want to know. */
  #left: Readonly<ApiObject> | undefined;

  /** Each after its own call. */
  wasAsked({ key, isReinvoked }: ConfiguredWebhook): void {
    if (isReinvoked) this.#asked.add(key);
  }

  /** A call has changed the object, or others have. */
  changed(): void {
    for (const key of this.#asked) this.#again.add(key);
    this.#asked = new Set();
  }

  isWanted({ key }: ConfiguredWebhook): boolean {
    return this.#again.has(key);
  }

  passEnded(object: Readonly<ApiObject>): void {
    this.#left = this.#asked.size === 0 ? undefined : cloneJson(object);
  }

  passBegins(object: Readonly<ApiObject>): void {
    if (this.#left !== undefined && !jsonEqual(this.#left, object)) this.changed();
  }
}
