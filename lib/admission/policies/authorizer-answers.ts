// What expressions ask the authorizer in one phase of one request: each distinct question is asked
// once, whichever policy asks it.
import type { Attributes, Authorizer } from '../../authz/authorizer.ts';
import { fieldSelectorAttribute, labelSelectorAttribute } from '../../authz/selector-attribute.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { serviceAccountGroups, serviceAccountUser } from '../../base/user.ts';
import type { User } from '../../base/user.ts';
import type { AuthorizationCheck, AuthorizationDecision } from '../../cel/model/declarations.ts';
import type { EvaluationOptions } from '../../cel/program.ts';

export class AuthorizerAnswers {
  readonly #authorizer: Authorizer;
  readonly #user: User;
  readonly #signal: AbortSignal;
  readonly #known = new Map<string, AuthorizationDecision>();
  /** Of evaluations that may ask. */
  readonly options: EvaluationOptions;
  /** Of evaluations that may not. */
  readonly unasked: EvaluationOptions;

  constructor(authorizer: Authorizer, user: User, signal: AbortSignal) {
    this.#authorizer = authorizer;
    this.#user = user;
    this.#signal = signal;
    const isExpired = (): boolean => signal.aborted;
    const decide = (check: AuthorizationCheck): AuthorizationDecision | undefined =>
      this.#known.get(keyOf(check));
    this.options = { authorizer: { decide }, isExpired };
    this.unasked = { isExpired };
  }

  /** Afterwards the answer is known. */
  ask(check: AuthorizationCheck): MaybePromise<void> {
    this.#signal.throwIfAborted();
    const decision = this.#authorizer.authorize(attributesOf(check, this.#user), this.#signal);
    const keep = ({ effect, reason, error = '' }: Awaited<typeof decision>): void =>
      void this.#known.set(keyOf(check), { decision: effect, reason, error });
    return decision instanceof Promise ? decision.then(keep) : keep(decision);
  }
}

const keyOf = (check: AuthorizationCheck): string => JSON.stringify(check);

const attributesOf = (check: AuthorizationCheck, user: User): Attributes => {
  const { serviceAccount, fieldSelector, labelSelector } = check;
  return {
    user: serviceAccount === undefined ? user : userOf(serviceAccount),
    verb: check.verb,
    isResourceRequest: check.resourceRequest,
    group: check.apiGroup,
    version: check.apiVersion,
    resource: check.resource,
    subresource: check.subresource,
    namespace: check.namespace,
    name: check.name,
    fieldSelector: fieldSelector === undefined ? undefined : fieldSelectorAttribute(fieldSelector),
    labelSelector: labelSelector === undefined ? undefined : labelSelectorAttribute(labelSelector),
    path: check.path,
  };
};

const userOf = ({ namespace, name }: { namespace: string; name: string }): User => ({
  name: serviceAccountUser(namespace, name),
  uid: '',
  groups: serviceAccountGroups(namespace),
  extra: {},
});
