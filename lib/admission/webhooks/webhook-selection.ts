// Goes through the webhooks that may be for one request, in their order, to those whose selectors
// select it. As long as none does, nothing waits and nothing is allocated for any of them.
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { wayFor } from '../match/criteria.ts';
import { selects, storedNamespace } from '../match/namespace.ts';
import type { StoredNamespace } from '../match/namespace.ts';
import type { MatchedAs } from '../match/rules.ts';
import type { Versioned } from '../match/versioned-objects.ts';
import { AuthorizerAnswers } from '../policies/authorizer-answers.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { ConfiguredWebhook } from './configured-webhook.ts';
import type { WebhookParts } from './webhook-parts.ts';
import type { PlacedWebhook, WebhookCandidate } from './webhook-source.ts';

/** A webhook that is for the request, but for its conditions. */
export interface SelectedWebhook extends PlacedWebhook {
  readonly as: MatchedAs | undefined;
}

export class WebhookSelection {
  readonly #parts: WebhookParts;
  readonly #request: AdmissionRequest;
  readonly #signal: AbortSignal;
  readonly #candidates: readonly WebhookCandidate[];
  #index = 0;
  #namespace: StoredNamespace | undefined;
  #answers: AuthorizerAnswers | undefined;

  constructor(parts: WebhookParts, request: AdmissionRequest, signal: AbortSignal) {
    this.#parts = parts;
    this.#request = request;
    this.#signal = signal;
    this.#candidates = parts.source.candidates(request);
  }

  /**
   * The next that is selected, by the object as it is now; undefined: there is none any more.
   * @throws StatusError 404 where the namespace is not there, 500 for a selector that is wrong
   */
  next(object: Readonly<ApiObject> | undefined): MaybePromise<SelectedWebhook | undefined> {
    const request = this.#request;
    for (; this.#index < this.#candidates.length; this.#index++) {
      const candidate = this.#candidates[this.#index];
      if (candidate === undefined) break;
      const way = wayFor(candidate, request.name);
      if (way === undefined) continue;
      if (this.#namespace === undefined && !candidate.criteria.namespaceSelector.isEmpty) {
        const found = storedNamespace(request, this.#parts.namespaces, this.#signal);
        if (found instanceof Promise) {
          return found.then((late) => {
            this.#namespace = late;
            return this.next(object);
          });
        }
        this.#namespace = found;
      }
      if (!selects(candidate.criteria, request, object, this.#namespace ?? 'absent')) continue;
      this.#index++;
      return { ...candidate.entry, as: way.as };
    }
    return undefined;
  }

  /** Whether its conditions hold. @throws StatusError 403 where one fails */
  hold({ webhook, as }: SelectedWebhook, { object, oldObject }: Versioned): MaybePromise<boolean> {
    if (!hasConditions(webhook)) return true;
    const { conditions, authorizer } = this.#parts;
    const request = this.#request;
    this.#answers ??= new AuthorizerAnswers(authorizer, request.user, this.#signal);
    return conditions.hold(webhook, { request, as, object, oldObject }, this.#answers);
  }
}

const hasConditions = ({ conditions }: ConfiguredWebhook): boolean => conditions.length > 0;
