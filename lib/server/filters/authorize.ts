// May answer 403. Asks the authorizer about exactly the path and verb that will be routed.
import { pathSegmentProblems } from '../../api/name-rules.ts';
import type {
  Attributes,
  Authorizer,
  Decision,
  SelectorAttribute,
} from '../../authz/authorizer.ts';
import {
  fieldSelectorAttribute,
  labelSelectorAttribute,
  selectedName,
} from '../../authz/selector-attribute.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { forbidden, forbiddenRequest } from '../../base/status.ts';
import { anonymousUser } from '../../base/user.ts';
import type { User } from '../../base/user.ts';
import type { StatusError } from '../../base/status.ts';
import type { Filter, HttpRequest, Next, RequestContext } from '../request-context.ts';
import { isUpgrade } from '../upgrade.ts';

export function authorizeFilter(authorizer: Authorizer): Filter {
  return function authorize(request, _response, next) {
    const attributes = requestAttributes(request);
    const decision = authorizer.authorize(attributes, request.context);
    if (decision instanceof Promise) {
      return decision.then((late) => settle(late, attributes, request.context, next));
    }
    return settle(decision, attributes, request.context, next);
  };
}

/**
 * Who takes a connection over can do anything with it, whatever the method: a WebSocket begins with
 * a GET. To read is not enough for that (KEP-2862).
 */
function requestAttributes(request: HttpRequest): Attributes {
  const { context } = request;
  const takesOver = context.info.subresource !== '' && isUpgrade(request);
  return takesOver ? attributesOf(context, { verb: 'create' }) : attributesOf(context);
}

function settle(
  decision: Decision,
  attributes: Attributes,
  { audit }: RequestContext,
  next: Next,
): MaybePromise<void> {
  const isAllowed = decision.effect === 'allow';
  audit?.decided(isAllowed, decision.reason);
  if (!isAllowed) throw refusal(attributes, decision.reason);
  return next();
}

/**
 * Attributes of the request; `change` overrides (another verb or subresource of the same request),
 * which its selectors do not limit.
 */
export function attributesOf(context: RequestContext, change?: Partial<Attributes>): Attributes {
  const attributes = new RequestAttributes(context);
  if (change === undefined) return attributes;
  return Object.assign({ fieldSelector: undefined, labelSelector: undefined }, attributes, change);
}

/** Reads selectors when an authorizer asks for them. */
class RequestAttributes implements Attributes {
  readonly user: User;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly #query: URLSearchParams;
  #fieldSelector: SelectorAttribute | undefined;
  #labelSelector: SelectorAttribute | undefined;

  constructor({ user, info }: RequestContext) {
    this.user = user ?? anonymousUser;
    this.verb = info.verb;
    this.isResourceRequest = info.kind === 'resource';
    this.group = info.group;
    this.version = info.version;
    this.resource = info.resource;
    this.subresource = info.subresource;
    this.namespace = info.namespace;
    this.path = info.path;
    this.#query = info.query;
    const mayBeSelected = info.name === '' && (info.verb === 'list' || info.verb === 'watch');
    this.name = mayBeSelected ? this.#selectedName() : info.name;
  }

  get fieldSelector(): SelectorAttribute | undefined {
    this.#fieldSelector ??= fieldSelectorAttribute(this.#selector('fieldSelector'));
    return this.#fieldSelector;
  }

  get labelSelector(): SelectorAttribute | undefined {
    this.#labelSelector ??= labelSelectorAttribute(this.#selector('labelSelector'));
    return this.#labelSelector;
  }

  #selector(parameter: string): string {
    return selectingVerbs.has(this.verb) ? (this.#query.get(parameter) ?? '') : '';
  }

  /** Rules for single objects hold for lists and watches of one, too. */
  #selectedName(): string {
    if (!this.#selector('fieldSelector').includes('metadata.name')) return '';
    const name = selectedName(this.fieldSelector);
    return pathSegmentProblems(name).length === 0 ? name : '';
  }
}

const selectingVerbs: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

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
