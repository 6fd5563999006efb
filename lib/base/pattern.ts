// Regular expressions with RE2's syntax and linear time. Recently used ones are
// remembered.
import { RE2JS } from 're2js';
import { limits } from './limits.ts';
import { patternSize } from './pattern-size.ts';
import { TextMemo } from './text-memo.ts';

/** A compiled pattern. */
export interface Pattern {
  /** Whether it is found anywhere in the text. */
  test(text: string): boolean;
  /** The first match, or undefined. */
  find(text: string): string | undefined;
  /** All matches, or the first `limit`. */
  findAll(text: string, limit: number): string[];
}

const recent = new TextMemo<Pattern | PatternError>({
  countMax: limits.keptPatternsMax,
  lengthMax: limits.keptPatternLengthMax,
});

/** What is wrong with the syntax, in RE2's words. */
export interface PatternError {
  readonly error: string;
}

export const compilePattern = (source: string): Pattern | PatternError =>
  recent.of(source, compile);

function compile(source: string): Pattern | PatternError {
  const { steps, tooOften } = patternSize(source);
  const refused = (why: string): PatternError => ({ error: `error parsing regexp: ${why}` });
  if (tooOften !== undefined) return refused(`invalid repeat count: \`${tooOften}\``);
  if (steps > limits.patternStepsMax) return refused('expression too large');
  try {
    return wrap(RE2JS.compile(source));
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
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
