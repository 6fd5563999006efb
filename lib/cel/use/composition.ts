// `variables.NAME` of policies: each is an expression over the variables before it, computed when
// first used and only once.
import { atOnce } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import { dynType, structType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { ObjectTypes } from '../model/declarations.ts';
import { Environment } from '../environment.ts';
import { CelError } from '../model/value.ts';
import type { MapValue, Value } from '../model/value.ts';
import type { Bindings, EvaluationOptions } from '../program.ts';
import { PendingAuthorization } from '../eval/frame.ts';
import { compileConditionSteps } from './conditions.ts';
import type { CompiledCondition, SharedCosts } from './conditions.ts';

export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

export interface Composition {
  /** The environment with `variables`. */
  readonly environment: Environment;
  /** Another environment, which lacks some of the base, with the same `variables`. */
  within(other: Environment): Environment;
  /** Each variable, in their order. */
  readonly conditions: readonly CompiledCondition[];
  /** The bindings of one object with `variables` added, and what computing them costs. */
  readonly bind: (
    bindings: Bindings,
    options?: EvaluationOptions,
  ) => { readonly bindings: Bindings; readonly costs: SharedCosts };
}

/** Compiles variables in order. One that is refused fails only the expressions that use it. */
export const composeVariables = (
  base: Environment,
  variables: readonly NamedExpression[],
): Composition => atOnce(composeVariablesSteps(base, variables));

export function* composeVariablesSteps(
  base: Environment,
  variables: readonly NamedExpression[],
): Steps<Composition> {
  const type = structType(base.options.naming.resolve('{kubernetes}.variables'));
  const types = new Map<string, CelType>();
  const compiled = new Map<string, CompiledCondition>();
  const conditions: CompiledCondition[] = [];
  const within = ({ options }: Environment): Environment =>
    new Environment({
      ...options,
      variables: [
        ...(options.variables ?? []),
        { name: 'variables', type, wrap: (bound) => bound as Value },
      ],
      objects: withVariables(options.objects, type.name, types),
    });
  const environment = within(base);
  for (const { name, expression } of variables) {
    const condition = yield* compileConditionSteps(environment, expression, 'any');
    compiled.set(name, condition);
    conditions.push(condition);
    types.set(name, condition.program?.resultType ?? dynType);
  }
  return {
    environment,
    within,
    conditions,
    bind: (bindings, options = {}) => bindVariables(compiled, bindings, options),
  };
}

function withVariables(
  objects: ObjectTypes | undefined,
  typeName: string,
  types: ReadonlyMap<string, CelType>,
): ObjectTypes {
  return {
    ...objects,
    has: (name) => name === typeName || objects?.has(name) === true,
    field: (name, field) => {
      if (name !== typeName) return objects?.field(name, field);
      const type = types.get(field);
      return type && { name: field, type };
    },
  };
}

function bindVariables(
  compiled: ReadonlyMap<string, CompiledCondition>,
  bindings: Bindings,
  options: EvaluationOptions,
): ReturnType<Composition['bind']> {
  const values = new Map<string, Value>();
  let spent = 0;
  const all: Record<string, unknown> = { ...bindings };
  const evaluate = (name: string, { program, error }: CompiledCondition): Value => {
    if (program === undefined) {
      return new CelError(
        `composited variable ${JSON.stringify(name)} fails to compile: ${error ?? ''}`,
      );
    }
    const result = program.evaluate(all, options);
    if (result.kind === 'pending') throw new PendingAuthorization(result.check);
    spent += result.cost;
    if (result.kind === 'value') return result.value;
    return new CelError(
      `composited variable ${JSON.stringify(name)} fails to evaluate: ${result.message}`,
    );
  };
  const lazy: MapValue = {
    kind: 'map',
    size: () => compiled.size,
    keys: () => compiled.keys(),
    find: (key) => {
      const condition = typeof key === 'string' ? compiled.get(key) : undefined;
      if (typeof key !== 'string' || condition === undefined) return undefined;
      const known = values.get(key);
      if (known !== undefined) return known;
      const value = evaluate(key, condition);
      values.set(key, value);
      return value;
    },
  };
  all['variables'] = lazy;
  return {
    bindings: all,
    costs: {
      take: () => {
        const cost = spent;
        spent = 0;
        return cost;
      },
    },
  };
}
