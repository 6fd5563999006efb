// Whether the match conditions of a webhook let it be asked about a request. They are compiled when
// they are first needed, as stored expressions: what was valid once stays so.
import { inTurns } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { forbidden } from '../../base/status.ts';
import { composeVariables } from '../../cel/use/composition.ts';
import { compileConditionSteps } from '../../cel/use/conditions.ts';
import type { CompiledCondition } from '../../cel/use/conditions.ts';
import { policyEnvironment } from '../../cel/use/policy-environment.ts';
import { namespaceOf } from '../match/namespace.ts';
import { requestRecord } from '../match/request-record.ts';
import type { MatchedAs } from '../match/rules.ts';
import type { Versioned } from '../match/versioned-objects.ts';
import type { AuthorizerAnswers } from '../policies/authorizer-answers.ts';
import { keptOf } from '../policies/compiled.ts';
import type { PolicyExpressions } from '../policies/compiled.ts';
import { countConditions } from '../policies/policy-metrics.ts';
import type { ConditionLabels } from '../policies/policy-metrics.ts';
import { matchConditions } from '../policies/match-conditions.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { ConfiguredWebhook } from './configured-webhook.ts';

/** What a webhook would be asked about. */
export interface ToBeAsked extends Omit<Versioned, 'kind' | 'type'> {
  readonly request: AdmissionRequest;
  readonly as: MatchedAs | undefined;
}

export class WebhookConditions {
  readonly #naming: NamingProfile;
  readonly #metrics: Metrics;
  readonly #type: ConditionLabels['type'];
  readonly #compiled = new WeakMap<ConfiguredWebhook, MaybePromise<PolicyExpressions>>();

  constructor(naming: NamingProfile, metrics: Metrics, type: ConditionLabels['type']) {
    this.#naming = naming;
    this.#metrics = metrics;
    this.#type = type;
  }

  /** @throws StatusError 403 where one fails, none is false, and failures are not ignored */
  hold(
    webhook: ConfiguredWebhook,
    asked: ToBeAsked,
    answers: AuthorizerAnswers,
  ): MaybePromise<boolean> {
    if (webhook.conditions.length === 0) return true;
    let compiled = this.#compiled.get(webhook);
    if (compiled === undefined) {
      compiled = inTurns(compileAll(webhook, this.#naming));
      this.#compiled.set(webhook, compiled);
    }
    return whenThere(compiled, (expressions) =>
      this.#evaluate(webhook, expressions, asked, answers),
    );
  }

  #evaluate(
    webhook: ConfiguredWebhook,
    expressions: PolicyExpressions,
    { request, as, object, oldObject }: ToBeAsked,
    answers: AuthorizerAnswers,
  ): MaybePromise<boolean> {
    const bindings = {
      object: object ?? null,
      oldObject: oldObject ?? null,
      request: requestRecord(request, as),
      namespaceObject: null,
      'authorizer.requestResource': {
        apiGroup: request.resource.group,
        resource: request.resource.resource,
        subresource: request.subresource,
        namespace: namespaceOf(request),
        name: request.name,
      },
    };
    const startMs = performance.now();
    return whenThere(matchConditions(expressions, bindings, answers), (matching) => {
      const { kind, message } = matching;
      const isPassedOver = kind === 'failed' && webhook.ignoresFailures;
      countConditions(
        this.#metrics,
        { kind: 'webhook', name: webhook.name, type: this.#type, operation: request.operation },
        { ...matching, kind: isPassedOver ? 'excluded' : kind },
        (performance.now() - startMs) / 1_000,
      );
      if (kind === 'failed' && !webhook.ignoresFailures) {
        throw forbidden(request.resource, request.name, message);
      }
      return kind === 'match';
    });
  }
}

function* compileAll(webhook: ConfiguredWebhook, naming: NamingProfile): Steps<PolicyExpressions> {
  const environment = policyEnvironment({
    naming,
    version: 'stored',
    hasParams: false,
    hasAuthorizer: true,
  });
  const variables = composeVariables(environment, []);
  const compiled: CompiledCondition[] = [];
  for (const text of webhook.conditions) {
    compiled.push(yield* compileConditionSteps(variables.environment, text));
  }
  return keptOf({ variables, matchConditions: compiled });
}
