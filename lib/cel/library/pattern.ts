// Regular expressions of expressions: a wrong one is an error of the evaluation.
import { compilePattern } from '../../base/pattern.ts';
import type { Pattern } from '../../base/pattern.ts';
import { CelError } from '../model/value.ts';
import type { Value } from '../model/value.ts';

export function patternOf(source: string): Pattern | CelError {
  const compiled = compilePattern(source);
  return 'error' in compiled ? new CelError(compiled.error) : compiled;
}

/** `text.matches(pattern)` for a pattern that is not constant. */
export function findsPattern(text: Value, source: Value): Value {
  const pattern = patternOf(source as string);
  return pattern instanceof CelError ? pattern : pattern.test(text as string);
}
