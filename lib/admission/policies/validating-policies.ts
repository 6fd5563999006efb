// The plugin ValidatingAdmissionPolicy: asks the policies that are in force about each write, in a
// fixed order: those of files first, then policies by name, their bindings by name, parameters by
// namespace and name.
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { StatusError } from '../../base/status.ts';
import type { Bindings } from '../../cel/program.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { namespaceOf } from '../match/namespace.ts';
import type { MatchedAs } from '../match/rules.ts';
import { VersionedObjects } from '../match/versioned-objects.ts';
import type { Versioned } from '../match/versioned-objects.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import type { ServedResource } from '../served-resources.ts';
import { AuthorizerAnswers } from './authorizer-answers.ts';
import type { Binding, Policy } from './bindings.ts';
import { KeptCompilations } from './kept-compilations.ts';
import { matchConditions } from './match-conditions.ts';
import { matchedWay } from './matched.ts';
import type { Selected } from './matched.ts';
import { PolicySource } from './matched-policies.ts';
import type { Matched } from './matched-policies.ts';
import { ConfigurationError, paramResource, paramsOf } from './params.ts';
import type { Param } from './params.ts';
import { bindingsOf, originalRecord } from './policy-bindings.ts';
import { countCheck, countConditions } from './policy-metrics.ts';
import type { EnforcementAction } from './policy-metrics.ts';
import { compileValidating } from './validating-expressions.ts';
import type { ValidatingExpressions } from './validating-expressions.ts';
import { errorTypeOf, validateOne } from './validate-one.ts';
import type { Evaluated, Finding } from './validate-one.ts';
import { tracedPhase } from './traced-phase.ts';
import { Verdict } from './verdict.ts';

const name = 'ValidatingAdmissionPolicy';
const resources = {
  policies: 'validatingadmissionpolicies',
  bindings: 'validatingadmissionpolicybindings',
};

export function validatingPolicies(parts: PluginParts): AdmissionPlugin {
  const source = new PolicySource(parts, resources);
  const compilations = new KeptCompilations((policy) => compileValidating(policy, parts.naming));
  return {
    name,
    isConfigured: true,
    sideEffects: false,
    handles: (request) => source.mayMatch(request),
    validate: (request, object, signal) =>
      whenThere(source.select(request, object, signal), (selection) => {
        if (selection === undefined) return undefined;
        const { selected, matched } = selection;
        const judgement = new Judgement(parts, compilations, selected, signal);
        return parts.tracing === undefined
          ? judgement.judge(matched)
          : tracedPhase(parts.tracing, 'validating', selection, () => judgement.judge(matched));
      }),
  };
}

/** One request that some policies match. */
class Judgement {
  readonly #parts: PluginParts;
  readonly #compilations: KeptCompilations<ValidatingExpressions>;
  readonly #selected: Selected;
  readonly #signal: AbortSignal;
  readonly #versions: VersionedObjects;
  readonly #answers: AuthorizerAnswers;
  readonly #verdict: Verdict;

  constructor(
    parts: PluginParts,
    compilations: KeptCompilations<ValidatingExpressions>,
    selected: Selected,
    signal: AbortSignal,
  ) {
    const { request, object } = selected;
    this.#parts = parts;
    this.#compilations = compilations;
    this.#selected = selected;
    this.#signal = signal;
    this.#versions = new VersionedObjects(request, object, signal);
    this.#answers = new AuthorizerAnswers(parts.authorizer, request.user, signal);
    this.#verdict = new Verdict(request, parts.naming);
  }

  async judge(matched: readonly Matched[]): Promise<void> {
    for (const one of matched) {
      await this.#orConfigurationError(one.policy, undefined, () => this.#ofPolicy(one));
    }
    this.#verdict.end(this.#selected.object);
  }

  async #ofPolicy({ policy, bindings, as }: Matched): Promise<void> {
    if (as instanceof Error) throw as;
    const kind = await paramResource(policy, this.#parts.served, this.#signal);
    const { request, namespace } = this.#selected;
    for (const candidate of bindings.candidatesIn(request, namespace)) {
      const { entry: binding } = candidate;
      await this.#orConfigurationError(policy, binding, async () => {
        if (matchedWay(candidate, this.#selected, 'binding') === undefined) return;
        await this.#ofBinding({ policy, binding, as, kind });
      });
    }
  }

  async #ofBinding(of: {
    readonly policy: Policy;
    readonly binding: Binding;
    readonly as: MatchedAs | undefined;
    readonly kind: ServedResource | undefined;
  }): Promise<void> {
    const { policy, binding, as, kind } = of;
    const { request } = this.#selected;
    const namespace = namespaceOf(request);
    const params = await paramsOf(binding, kind, namespace, this.#signal);
    if (params.length === 0) return;
    const [versioned, compiled] = [await this.#versioned(as), await this.#compilations.of(policy)];
    for (const param of params) {
      const bindings = bindingsOf(this.#selected, { versioned, as, param });
      await this.#evaluate({ policy, binding, param }, compiled, bindings, as);
    }
  }

  async #evaluate(
    of: { readonly policy: Policy; readonly binding: Binding; readonly param: Param },
    compiled: ValidatingExpressions,
    bindings: Bindings,
    as: MatchedAs | undefined,
  ): Promise<void> {
    const { policy, binding, param } = of;
    const fromMs = performance.now();
    const evaluated = await this.#evaluated(policy, compiled, bindings, as);
    const ms = performance.now() - fromMs;
    this.#parts.log.debug('a policy was evaluated', {
      policy: policy.name,
      binding: binding.name,
      param: param === null ? '' : nameOf(param),
      cost: evaluated?.cost ?? 0,
      ms,
    });
    if (evaluated === undefined) return;
    const checked = (action: EnforcementAction, { errorType }: Finding): void => {
      const labels = { action, errorType, policy: policy.name, binding: binding.name };
      countCheck(this.#parts.metrics, labels, ms / 1000);
    };
    for (const finding of evaluated.findings) {
      if (finding.errorType !== 'no_error' && policy.failsOpen) checked('allow', finding);
      else this.#enforce(policy, binding, finding, checked);
    }
    for (const annotation of evaluated.annotations) this.#verdict.annotate(policy, annotation);
    if (policy.failsOpen) return;
    for (const error of evaluated.annotationErrors) {
      this.#verdict.deny(policy, binding, error);
      checked('deny', error);
    }
  }

  /** undefined: the match conditions leave the request out. */
  async #evaluated(
    policy: Policy,
    compiled: ValidatingExpressions,
    bindings: Bindings,
    as: MatchedAs | undefined,
  ): Promise<Evaluated | undefined> {
    const { request } = this.#selected;
    if (compiled.matchConditions.length > 0) {
      const fromMs = performance.now();
      const asked = { ...bindings, request: originalRecord(request, as), namespaceObject: null };
      const matching = await matchConditions(compiled, asked, this.#answers);
      const labels = { kind: 'policy', name: policy.name, operation: request.operation } as const;
      const seconds = (performance.now() - fromMs) / 1000;
      countConditions(this.#parts.metrics, { ...labels, type: 'validate' }, matching, seconds);
      const { kind, message } = matching;
      if (kind === 'excluded' || (kind === 'failed' && policy.failsOpen)) return undefined;
      if (kind === 'failed') {
        const finding = { index: 0, message, reason: 'Invalid', errorType: errorTypeOf(message) };
        return { findings: [finding], annotations: [], annotationErrors: [], cost: 0 };
      }
    }
    return validateOne(compiled, bindings, this.#answers);
  }

  #enforce(
    policy: Policy,
    binding: Binding,
    finding: Finding,
    checked: (action: EnforcementAction, finding: Finding) => void,
  ): void {
    for (const action of binding.actions) {
      if (action === 'Deny') {
        this.#verdict.deny(policy, binding, finding);
        checked('deny', finding);
      } else if (action === 'Warn') {
        this.#verdict.warn(policy, binding, finding);
        checked('warn', finding);
      } else if (action === 'Audit') {
        this.#verdict.audit(policy, binding, finding);
        checked('audit', finding);
      }
    }
  }

  async #versioned(as: MatchedAs | undefined): Promise<Versioned> {
    try {
      return await this.#versions.as(as);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const cause = `failed to convert object version: ${error.message}`;
      throw new ConfigurationError('binding', cause);
    }
  }

  /** What cannot be asked refuses, unless the failure policy ignores it. */
  async #orConfigurationError(
    policy: Policy,
    binding: Binding | undefined,
    ask: () => MaybePromise<void>,
  ): Promise<void> {
    try {
      await ask();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      if (policy.failsOpen) return;
      this.#verdict.deny(policy, binding, { message: error.message, reason: 'Invalid' });
    }
  }
}

const nameOf = ({ metadata }: Readonly<ApiObject>): string =>
  `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
