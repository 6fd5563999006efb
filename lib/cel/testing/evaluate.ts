// Short ways to compile and evaluate, for tests: an environment with variables of common types.
import { namingProfile } from '../../api/vendor.ts';
import { dynType, intType, listType, stringType } from '../model/cel-type.ts';
import { CompileErrors, Environment, ProgramFailure } from '../environment.ts';
import type { EnvironmentOptions } from '../environment.ts';
import { toJson } from './to-json.ts';
import { authorizerTypes, authorizerValue } from '../library/authorizer.ts';
import type { Bindings, EvaluationOptions, Program } from '../program.ts';

export const naming = namingProfile('kubernetes');
/** The reference's, of all expressions that validate one object. */
export const objectCostBudget = 10_000_000;

/** With `object` and `x` of unknown type, `count`, `name`, `names` and `authorizer`. */
export function sampleEnvironment(options: Partial<EnvironmentOptions> = {}): Environment {
  const { authorizer } = authorizerTypes(naming);
  return new Environment({
    naming,
    variables: [
      { name: 'object', type: dynType },
      { name: 'x', type: dynType },
      { name: 'count', type: intType },
      { name: 'name', type: stringType },
      { name: 'names', type: listType(stringType) },
      { name: 'authorizer', type: authorizer, value: authorizerValue(naming) },
    ],
    ...options,
  });
}

/** The program; fails the test if there is none. */
export function programOf(text: string, environment: Environment = sampleEnvironment()): Program {
  const compiled = environment.compile(text);
  if (compiled instanceof CompileErrors) throw new Error(compiled.toText());
  if (compiled instanceof ProgramFailure) throw new Error(compiled.message);
  return compiled;
}

/** Lines of the errors; none: it compiles. */
export function compileErrors(
  text: string,
  environment: Environment = sampleEnvironment(),
): readonly string[] {
  const compiled = environment.compile(text);
  if (compiled instanceof ProgramFailure) return [compiled.message];
  return compiled instanceof CompileErrors ? compiled.toLines() : [];
}

/** The value as JSON, or `error: …`. */
export function evaluate(
  text: string,
  bindings: Bindings = {},
  options: EvaluationOptions = {},
): unknown {
  const result = programOf(text).evaluate(bindings, options);
  if (result.kind === 'value') return toJson(result.value);
  return result.kind === 'error' ? `error: ${result.message}` : result.check;
}
