// Which policies and bindings are for a request: their rules fit, and their selectors select it.
import { StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { wayFor } from '../match/criteria.ts';
import type { Candidate } from '../match/match-index.ts';
import { selects } from '../match/namespace.ts';
import type { StoredNamespace } from '../match/namespace.ts';
import type { Way } from '../match/rules.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { ConfigurationError } from './params.ts';

/** What selectors look at. */
export interface Selected {
  readonly request: AdmissionRequest;
  /** As it is now, in the form of the request. */
  readonly object: Readonly<ApiObject> | undefined;
  readonly namespace: StoredNamespace;
}

/**
 * How the request fits; undefined: it does not.
 * @throws ConfigurationError where a selector cannot be evaluated
 */
export function matchedWay<Entry>(
  candidate: Candidate<Entry>,
  { request, object, namespace }: Selected,
  of: ConfigurationError['of'],
): Way | undefined {
  const way = wayFor(candidate, request.name);
  if (way === undefined) return undefined;
  try {
    return selects(candidate.criteria, request, object, namespace) ? way : undefined;
  } catch (error) {
    if (error instanceof StatusError) throw new ConfigurationError(of, error.message);
    throw error;
  }
}
