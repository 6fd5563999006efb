// Expressions in configuration objects: they must compile, to a result of the type that is needed.
import { recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Environment } from '../../cel/environment.ts';
import { boolType } from '../../cel/model/cel-type.ts';
import { compileCondition } from '../../cel/use/conditions.ts';
import type { ResultTypes } from '../../cel/use/conditions.ts';
import type { Scope } from '../validator.ts';

export interface ExpressionNeeds {
  readonly environment: Environment;
  readonly types: ResultTypes;
}

/** `of[name]`, which must be there; `missing` says so. */
export function validateExpression(
  of: JsonObject,
  name: string,
  path: string,
  needs: ExpressionNeeds & { readonly missing?: string },
  { errors }: Scope,
): void {
  const text = textAt(of, name);
  const where = `${path}.${name}`;
  if (text.trim() === '') {
    errors.required(where, needs.missing ?? `${name} is not specified`);
    return;
  }
  const { error } = compileCondition(needs.environment, text, needs.types);
  if (error !== undefined) errors.invalid(where, text, error);
}

/** `of.matchConditions`, whose number and names are checked beside the fields. */
export function validateMatchConditions(
  of: JsonObject,
  path: string,
  environment: Environment,
  scope: Scope,
): void {
  const needs = { environment, types: [boolType], missing: '' } as const;
  for (const [at, condition] of recordsAt(of, 'matchConditions').entries()) {
    const where = `${path}.matchConditions[${String(at)}]`;
    validateExpression(condition, 'expression', where, needs, scope);
  }
}
