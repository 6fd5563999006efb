// THE filter order: first = outermost. A request passes them from top to bottom; a failure anywhere
// ends in `panic`.
import type { Authenticator } from '../authn/authenticator.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { authenticateFilter } from './filters/authenticate.ts';
import { authorizeFilter } from './filters/authorize.ts';
import { refuseImpersonation } from './filters/impersonate.ts';
import { checkScope } from './filters/scope.ts';
import type { Filter } from './request-context.ts';

export interface ChainOptions {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly allowAnonymous: boolean;
  /** The handlers of resource requests. */
  readonly resources: Filter;
}

/**
 * `begin` (context, audit id, deadline, metrics) runs before and `panic` around all of these: see
 * serve.ts.
 */
export function filterChain(options: ChainOptions): readonly Filter[] {
  return [
    authenticateFilter(options), // 401
    refuseImpersonation, // 403
    checkScope, // 404 where the path's scope is not the resource's
    authorizeFilter(options.authorizer), // 403
    options.resources, // everything below /api and /apis that names a resource
  ];
}
