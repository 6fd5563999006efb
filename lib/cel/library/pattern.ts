// Regular expressions with RE2's syntax and linear time. Patterns that an evaluation computes are
// compiled each time they are new.
import { limits } from '../../base/limits.ts';
import { RE2JS } from 're2js';
import { TextMemo } from '../../base/text-memo.ts';
import { CelError } from '../model/value.ts';
import type { Value } from '../model/value.ts';

/** A compiled pattern. */
export interface Pattern {
  /** Whether it is found anywhere in the text. */
  test(text: string): boolean;
  /** The first match, or undefined. */
  find(text: string): string | undefined;
  /** All matches, or the first `limit`. */
  findAll(text: string, limit: number): string[];
}

const recent = new TextMemo<Pattern | CelError>({
  countMax: limits.keptPatternsMax,
  lengthMax: limits.keptPatternLengthMax,
});

/** The pattern, or the error of its syntax. */
export const compilePattern = (source: string): Pattern | CelError => recent.of(source, compile);

function compile(source: string): Pattern | CelError {
  try {
    return wrap(RE2JS.compile(source));
  } catch (error) {
    return new CelError(error instanceof Error ? error.message : String(error));
  }
}

function wrap(compiled: RE2JS): Pattern {
  return {
    test: (text) => compiled.test(text),
    find: (text) => {
      const matcher = compiled.matcher(text);
      return matcher.find() ? (matcher.group() ?? '') : undefined;
    },
    findAll: (text, limit) => {
      const matcher = compiled.matcher(text);
      const found: string[] = [];
      while ((limit < 0 || found.length < limit) && matcher.find())
        found.push(matcher.group() ?? '');
      return found;
    },
  };
}

/** `text.matches(pattern)` for a pattern that is not constant. */
export function findsPattern(text: Value, source: Value): Value {
  const pattern = compilePattern(source as string);
  return pattern instanceof CelError ? pattern : pattern.test(text as string);
}
