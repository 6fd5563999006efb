// One pass of the mutating policies that match a request over its object. An error of a mutation
// takes back all that its policy did with that binding and parameter; its failure policy decides
// whether the request is refused.
import { textAt } from '../../api/json-access.ts';
import { limits } from '../../base/limits.ts';
import { StatusError } from '../../base/status.ts';
import { afterLongTurn } from '../../base/turn.ts';
import type { Bindings } from '../../cel/program.ts';
import { Budget } from '../../cel/use/budget.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { MutatedObject } from '../match/mutated-object.ts';
import { namespaceOf } from '../match/namespace.ts';
import type { MatchedAs } from '../match/rules.ts';
import type { Versioned } from '../match/versioned-objects.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { AuthorizerAnswers } from './authorizer-answers.ts';
import type { Binding, Policy } from './bindings.ts';
import { evaluateGroup } from './evaluate-group.ts';
import type { KeptCompilations } from './kept-compilations.ts';
import { matchConditions } from './match-conditions.ts';
import { matchedWay } from './matched.ts';
import type { Selected } from './matched.ts';
import type { Matched } from './matched-policies.ts';
import type { Mutation, MutatingExpressions } from './mutating-expressions.ts';
import { refusalOf } from './mutating-refusal.ts';
import type { PolicyFailure } from './mutating-refusal.ts';
import { MutationFailure } from './mutation-result.ts';
import { ConfigurationError, paramResource, paramsOf } from './params.ts';
import type { Param } from './params.ts';
import { bindingsOf, originalRecord } from './policy-bindings.ts';
import { countConditions, countMutation } from './policy-metrics.ts';
import type { Reinvocation } from '../reinvocation.ts';
import { errorTypeOf } from './validate-one.ts';
import type { ErrorType } from './validate-one.ts';

export interface RoundOptions extends Selected {
  readonly object: ApiObject;
  readonly pass: 0 | 1;
  readonly reinvocation: Reinvocation;
}

/** One policy with one parameter of one of its bindings. */
interface Invocation {
  readonly policy: Policy;
  readonly binding: Binding;
  readonly param: Param;
  readonly as: MatchedAs | undefined;
}

interface Failed {
  readonly message: string;
  readonly errorType: ErrorType;
}

export class MutatingRound {
  readonly #parts: PluginParts;
  readonly #compilations: KeptCompilations<MutatingExpressions>;
  readonly #options: RoundOptions;
  readonly #signal: AbortSignal;
  readonly #object: MutatedObject;
  readonly #answers: AuthorizerAnswers;
  readonly #failures: PolicyFailure[] = [];

  constructor(
    parts: PluginParts,
    compilations: KeptCompilations<MutatingExpressions>,
    options: RoundOptions,
    signal: AbortSignal,
  ) {
    const { request, object } = options;
    this.#parts = parts;
    this.#compilations = compilations;
    this.#options = options;
    this.#signal = signal;
    this.#object = new MutatedObject(request, object, parts.scheme.defaults, signal);
    this.#answers = new AuthorizerAnswers(parts.authorizer, request.user, signal);
  }

  /** @returns whether the object was changed. @throws StatusError 403 of what fails closed */
  async run(matched: readonly Matched[]): Promise<boolean> {
    const { request, object, pass, reinvocation } = this.#options;
    for (const invocation of await this.#invocations(matched)) {
      const key = keyOf(invocation);
      if (pass === 1 && !reinvocation.isWanted(key)) continue;
      await this.#invoke(invocation, key);
      const wait = afterLongTurn(limits.writeTurnMsMax);
      if (wait !== undefined) await wait;
    }
    const [first] = this.#failures;
    if (first !== undefined) throw refusalOf(request, object, first, this.#failures);
    const hasChanged = await this.#object.putBack();
    if (pass === 0) {
      if (hasChanged) reinvocation.changed(); // the last one, too, is repeated after its own change
      reinvocation.passEnded(object);
    }
    return hasChanged;
  }

  /** All of them are found before the first one changes anything. */
  async #invocations(matched: readonly Matched[]): Promise<readonly Invocation[]> {
    const found: Invocation[] = [];
    for (const one of matched) {
      await this.#orFailure(one.policy, undefined, () => this.#addOf(one, found));
    }
    return found;
  }

  async #addOf({ policy, bindings, as }: Matched, found: Invocation[]): Promise<void> {
    if (as instanceof Error) throw as;
    const { request, namespace } = this.#options;
    const kind = await paramResource(policy, this.#parts.served, this.#signal);
    for (const candidate of bindings.candidatesIn(request, namespace)) {
      const { entry: binding } = candidate;
      await this.#orFailure(policy, binding, async () => {
        if (matchedWay(candidate, this.#options, 'binding') === undefined) return;
        const params = await paramsOf(binding, kind, namespaceOf(request), this.#signal);
        for (const param of params) found.push({ policy, binding, param, as });
      });
    }
  }

  async #invoke(invocation: Invocation, key: string): Promise<void> {
    const { policy, binding, param, as } = invocation;
    const compiled = await this.#compilations.of(policy);
    let shown = await this.#shown(invocation);
    if (shown === undefined) return;
    const bindings = bindingsOf(this.#options, { versioned: shown, as, param });
    if (!(await this.#isFor(invocation, compiled, bindings))) return;
    const before = this.#object.state;
    let [hasFailed, hasChanged] = [false, false];
    for (const mutation of compiled.mutations) {
      const { object } = shown;
      if (object === undefined) return;
      const fromMs = performance.now();
      const made = await this.#mutated(mutation, compiled, { ...bindings, object }, shown);
      this.#count(invocation, made, fromMs);
      if ('errorType' in made) {
        hasFailed = true;
        this.#fail({ policy, binding, message: made.message, reason: 'Invalid' });
      } else if (this.#object.replace(made.object, shown)) {
        hasChanged = true;
        shown = { ...shown, object: this.#object.state.object };
      }
    }
    if (hasFailed) this.#object.restore(before);
    const { reinvocation } = this.#options;
    if (hasChanged && !hasFailed) reinvocation.changed();
    if (textAt(policy.spec, 'reinvocationPolicy') === 'IfNeeded') reinvocation.ran(key);
  }

  /** undefined: it cannot be shown in the version that the policy matched. */
  async #shown({ policy, binding, as }: Invocation): Promise<Versioned | undefined> {
    try {
      return await this.#object.as(as);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const cause = `failed to convert object version: ${error.message}`;
      const { message } = new ConfigurationError('policy', cause);
      this.#fail({ policy, binding, message, reason: 'Forbidden' });
      return undefined;
    }
  }

  /** Whether the match conditions of the policy let it work. */
  async #isFor(
    { policy, binding, as }: Invocation,
    compiled: MutatingExpressions,
    bindings: Bindings,
  ): Promise<boolean> {
    if (compiled.matchConditions.length === 0) return true;
    const { request } = this.#options;
    const fromMs = performance.now();
    const asked = { ...bindings, request: originalRecord(request, as), namespaceObject: null };
    const matching = await matchConditions(compiled, asked, this.#answers);
    const { operation } = request;
    const labels = { kind: 'policy', name: policy.name, operation, type: 'admit' } as const;
    countConditions(this.#parts.metrics, labels, matching, (performance.now() - fromMs) / 1000);
    const { kind, message } = matching;
    if (kind === 'failed') this.#fail({ policy, binding, message, reason: 'Invalid' });
    return kind === 'match';
  }

  /** Each mutation has a budget and variables of its own. */
  async #mutated(
    { condition, apply }: Mutation,
    { variables }: MutatingExpressions,
    bindings: Bindings,
    shown: Versioned,
  ): Promise<{ readonly object: Readonly<ApiObject> } | Failed> {
    if (condition.program === undefined) {
      return { message: condition.error ?? '', errorType: 'compile_error' };
    }
    const budget = new Budget(limits.policyCostMax);
    const group = { conditions: [condition], variables, answers: this.#answers, budget };
    const outcome = await evaluateGroup(group, bindings);
    const result = outcome.kind === 'results' ? outcome.results[0] : { ...outcome, kind: 'error' };
    const { object, type } = shown;
    if (result === undefined || object === undefined) return { object: object ?? {} };
    if (!('value' in result)) {
      const { message } = result;
      return { message, errorType: errorTypeOf(message) };
    }
    const made = apply(object, result.value, type, this.#object.baseFor(shown));
    if (!(made instanceof MutationFailure)) return { object: made };
    return { message: made.message, errorType: 'invalid_error' };
  }

  #count({ policy, binding }: Invocation, made: object, fromMs: number): void {
    const errorType = 'errorType' in made ? (made as Failed).errorType : 'no_error';
    const labels = { errorType, policy: policy.name, binding: binding.name };
    countMutation(this.#parts.metrics, labels, (performance.now() - fromMs) / 1000);
  }

  /** What cannot be asked refuses, unless the failure policy ignores it. */
  async #orFailure(
    policy: Policy,
    binding: Binding | undefined,
    ask: () => Promise<void>,
  ): Promise<void> {
    try {
      await ask();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      this.#fail({ policy, binding, message: error.message, reason: 'Forbidden' });
    }
  }

  #fail(failure: PolicyFailure): void {
    if (!failure.policy.failsOpen) this.#failures.push(failure);
  }
}

const keyOf = ({ policy, binding, param }: Invocation): string =>
  JSON.stringify([
    policy.name,
    binding.name,
    param?.metadata?.namespace ?? '',
    param?.metadata?.name ?? '',
  ]);
