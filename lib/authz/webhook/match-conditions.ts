// Conditions of an authorization webhook: which requests it is asked about at all. They are checked
// when the configuration is read, and evaluated before each question.
import type { NamingProfile } from '../../api/vendor.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { limits } from '../../base/limits.ts';
import { CompileErrors, ProgramFailure } from '../../cel/environment.ts';
import type { Environment } from '../../cel/environment.ts';
import { typeText } from '../../cel/model/cel-type.ts';
import type { Program } from '../../cel/program.ts';
import { authorizationEnvironment } from '../../cel/use/policy-environment.ts';
import type { Attributes } from '../authorizer.ts';
import { conditionRequest } from './review.ts';

export interface MatchConditions {
  readonly isEmpty: boolean;
  /**
   * One that is false decides, also where others fail; without one, the texts of those that failed.
   */
  match(asked: Attributes): 'match' | 'excluded' | { readonly errors: readonly string[] };
}

/** The environment of all conditions of a server. */
export const conditionEnvironment = (naming: NamingProfile): Environment =>
  authorizationEnvironment({ naming, version: 'stored' });

/** @param path of the list, for what is reported in `errors` */
export function compileMatchConditions(
  expressions: readonly string[],
  environment: Environment,
  { errors, path }: { readonly errors: FieldErrors; readonly path: string },
): MatchConditions {
  if (expressions.length > limits.webhookMatchConditionsMax) {
    errors.tooMany(path, expressions.length, limits.webhookMatchConditionsMax);
    return conditionsOf([]);
  }
  const programs: Program[] = [];
  for (const [index, expression] of expressions.entries()) {
    const at = `${path}[${String(index)}].expression`;
    if (expression.trim() === '') errors.required(at);
    else if (expressions.indexOf(expression) < index) errors.duplicate(at, expression);
    else {
      const compiled = compile(expression, environment);
      if (typeof compiled === 'string') errors.invalid(at, expression, compiled);
      else programs.push(compiled);
    }
  }
  return conditionsOf(programs);
}

/** The program, or why there is none. */
function compile(expression: string, environment: Environment): Program | string {
  const checked = environment.check(expression);
  if (checked instanceof CompileErrors) return `compilation failed: ${checked.toText()}`;
  if (checked.resultType.kind !== 'bool') {
    return `must evaluate to bool but got ${typeText(checked.resultType)}`;
  }
  const planned = environment.plan(checked);
  if (planned instanceof ProgramFailure) return `program instantiation failed: ${planned.message}`;
  return planned;
}

const conditionsOf = (programs: readonly Program[]): MatchConditions => ({
  isEmpty: programs.length === 0,
  match(asked) {
    const bindings = { request: conditionRequest(asked) };
    const errors: string[] = [];
    for (const program of programs) {
      const result = program.evaluate(bindings);
      if (result.kind === 'value') {
        if (result.value === false) return 'excluded';
        continue;
      }
      const why = result.kind === 'error' ? result.message : 'no authorizer can be asked here';
      errors.push(`cel evaluation error: expression '${program.text}' resulted in error: ${why}`);
    }
    return errors.length === 0 ? 'match' : { errors };
  },
});
