// The questions of one phase about one state of a request: those that are alike are written once,
// for any number of webhooks.
import { apiVersionOf } from '../../api/type-info.ts';
import type { MatchedAs } from '../match/rules.ts';
import type { Versioned } from '../match/versioned-objects.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { reviewedRequest } from './review.ts';

export class ReviewedTexts {
  readonly #known = new Map<string, string>();

  of(request: AdmissionRequest, as: MatchedAs | undefined, objects: Versioned): string {
    const key = as === undefined ? '' : `${apiVersionOf(as.resource)} ${as.resource.resource}`;
    let text = this.#known.get(key);
    if (text === undefined) {
      text = reviewedRequest(request, as, objects);
      this.#known.set(key, text);
    }
    return text;
  }
}
