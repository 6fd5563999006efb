// May answer 403. Asks the authorizer about exactly the path and verb that will be routed.
import type { Attributes, Authorizer, Decision } from '../../authz/authorizer.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { forbidden, forbiddenRequest } from '../../base/status.ts';
import { anonymousUser } from '../../base/user.ts';
import type { StatusError } from '../../base/status.ts';
import type { Filter, Next, RequestContext } from '../request-context.ts';

export function authorizeFilter(authorizer: Authorizer): Filter {
  return function authorize(request, _response, next) {
    const attributes = attributesOf(request.context);
    const decision = authorizer.authorize(attributes, request.context);
    if (decision instanceof Promise) return decision.then((late) => settle(late, attributes, next));
    return settle(decision, attributes, next);
  };
}

function settle(decision: Decision, attributes: Attributes, next: Next): MaybePromise<void> {
  if (decision.effect !== 'allow') throw refusal(attributes, decision.reason);
  return next();
}

/**
 * Attributes of the request; `change` overrides (another verb or subresource of the same request).
 */
export function attributesOf(context: RequestContext, change?: Partial<Attributes>): Attributes {
  const { info } = context;
  const attributes = {
    user: context.user ?? anonymousUser,
    verb: info.verb,
    isResourceRequest: info.kind === 'resource',
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    path: info.path,
  };
  return change === undefined ? attributes : { ...attributes, ...change };
}

/** Kubernetes' words for a refusal; says who wanted what, and where. */
export function refusal(attributes: Attributes, reason: string): StatusError {
  const user = JSON.stringify(attributes.user.name);
  const why = reason === '' ? '' : `: ${reason}`;
  if (!attributes.isResourceRequest) {
    return forbiddenRequest(
      `forbidden: User ${user} cannot ${attributes.verb} path "${attributes.path}"${why}`,
    );
  }
  const { group, subresource, namespace, name } = attributes;
  const resource =
    subresource === '' ? attributes.resource : `${attributes.resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return forbidden(
    { group, resource: attributes.resource },
    name,
    `User ${user} cannot ${attributes.verb} resource "${resource}" in API group "${group}" ` +
      `${where}${why}`,
  );
}
