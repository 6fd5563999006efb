// What an expression of a mutating policy writes.
import { CompileErrors, ProgramFailure } from '../../cel/environment.ts';
import type { Value } from '../../cel/model/value.ts';
import { policyEnvironment } from '../../cel/use/policy-environment.ts';
import { naming } from './asked.ts';

const environment = policyEnvironment({
  naming,
  hasParams: false,
  hasAuthorizer: false,
  isMutating: true,
});

/** @throws Error where it comes to no value */
export function writtenBy(expression: string, object: object): Value {
  const program = environment.compile(expression);
  if (program instanceof CompileErrors) throw new Error(program.toText());
  if (program instanceof ProgramFailure) throw new Error(program.message);
  const result = program.evaluate({ object });
  if (result.kind !== 'value') throw new Error(JSON.stringify(result));
  return result.value;
}
