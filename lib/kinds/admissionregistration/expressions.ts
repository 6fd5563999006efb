// Expressions in configuration objects: they must compile, to a result of the type that is needed.
// One that the stored object has already is compiled as stored: what a later release made of the
// language does not matter to it.
import { recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Steps } from '../../base/steps.ts';
import type { Environment } from '../../cel/environment.ts';
import { boolType } from '../../cel/model/cel-type.ts';
import { compileConditionSteps } from '../../cel/use/conditions.ts';
import type { ResultTypes } from '../../cel/use/conditions.ts';
import type { Scope } from '../validator.ts';

/** What expressions may use: new ones, and those that are stored. */
export interface ExpressionEnvironments {
  readonly fresh: Environment;
  readonly stored: Environment;
  /** Expressions of the stored object. */
  readonly storedTexts: ReadonlySet<string>;
}

export interface ExpressionNeeds {
  readonly environments: ExpressionEnvironments;
  readonly types: ResultTypes;
  /** What is said of one that is not there. */
  readonly missing?: string;
}

/** The environment of an expression. */
export const environmentFor = (
  text: string,
  { fresh, stored, storedTexts }: ExpressionEnvironments,
): Environment => (storedTexts.has(text) ? stored : fresh);

/** `of[name]`, which must be there. */
export function* validateExpression(
  of: JsonObject,
  name: string,
  path: string,
  { environments, types, missing }: ExpressionNeeds,
  { errors }: Scope,
): Steps<void> {
  const text = textAt(of, name);
  const where = `${path}.${name}`;
  if (text.trim() === '') {
    errors.required(where, missing ?? `${name} is not specified`);
    return;
  }
  const environment = environmentFor(text, environments);
  const { error } = yield* compileConditionSteps(environment, text, types);
  if (error !== undefined) errors.invalid(where, text, error);
}

/** `of.matchConditions`, whose number and names are checked beside the fields. */
export function* matchConditionSteps(
  of: JsonObject,
  path: string,
  environments: ExpressionEnvironments,
  scope: Scope,
): Steps<void> {
  const needs = { environments, types: [boolType], missing: '' } as const;
  for (const [at, condition] of recordsAt(of, 'matchConditions').entries()) {
    const where = `${path}.matchConditions[${String(at)}]`;
    yield* validateExpression(condition, 'expression', where, needs, scope);
  }
}
