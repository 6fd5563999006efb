// How large the program of a regular expression becomes: its characters, each as often as
// repetitions around it say. An estimate from the text alone, in one pass and before anything is
// compiled.

const digits = /\d+/y;

export interface PatternSize {
  /** Of the compiled expression; never much fewer than they are. */
  readonly steps: number;
  /** The first repetition that, with those inside of it, repeats more often than RE2 allows. */
  readonly tooOften: string | undefined;
}

interface Level {
  readonly total: number;
  readonly last: number;
  readonly most: number;
}

/** Repetitions within repetitions multiply; more is an error of RE2. */
const repetitionsMax = 1_000;

/** Linear in the text. */
export function patternSize(source: string): PatternSize {
  const groups: Level[] = [];
  let total = 0;
  /** Of the part that a repetition would repeat. */
  let last = 0;
  /** How often the part is repeated already, and the most of the parts before it. */
  let lastRepeats = 1;
  let most = 1;
  let tooOften: string | undefined;
  let at = 0;
  const add = (steps: number): void => {
    total += last;
    last = steps;
    most = Math.max(most, lastRepeats);
    lastRepeats = 1;
  };
  while (at < source.length) {
    const repeat = source[at] === '{' ? repetitionAt(source, at) : undefined;
    if (repeat !== undefined) {
      last *= Math.max(repeat.most, 1);
      lastRepeats *= Math.max(repeat.most, 1);
      if (lastRepeats > repetitionsMax) tooOften ??= source.slice(at, repeat.end);
      at = repeat.end;
      continue;
    }
    switch (source[at]) {
      case '\\':
        add(1);
        at += 1;
        break;
      case '[':
        add(1);
        at = classEnd(source, at);
        break;
      case '(':
        groups.push({ total, last, most: Math.max(most, lastRepeats) });
        total = 0;
        last = 1;
        most = 1;
        lastRepeats = 1;
        break;
      case ')': {
        const group = total + last + 1;
        const around = groups.pop();
        total = (around?.total ?? 0) + (around?.last ?? 0);
        last = group;
        lastRepeats = Math.max(most, lastRepeats);
        most = around?.most ?? 1;
        break;
      }
      case '*':
      case '+':
      case '?':
      case '|':
        total += 1;
        break;
      default:
        add(1);
    }
    at += 1;
  }
  const steps = groups.reduce((sum, group) => sum + group.total + group.last, total + last);
  return { steps, tooOften };
}

function repetitionAt(
  source: string,
  start: number,
): { readonly most: number; readonly end: number } | undefined {
  const numberAt = (from: number): string => {
    digits.lastIndex = from;
    return digits.exec(source)?.[0] ?? '';
  };
  const least = numberAt(start + 1);
  if (least === '') return undefined;
  let end = start + 1 + least.length;
  let most = least;
  if (source[end] === ',') {
    most = numberAt(end + 1);
    end += 1 + most.length;
  }
  if (source[end] !== '}') return undefined;
  return { most: Math.max(Number(least), Number(most)), end: end + 1 };
}

/** The index of the bracket that closes a class, or of the last character. */
function classEnd(source: string, start: number): number {
  let at = start + 1;
  if (source[at] === '^') at += 1;
  // A bracket that comes first is a character.
  if (source[at] === ']') at += 1;
  while (at < source.length && source[at] !== ']') at += source[at] === '\\' ? 2 : 1;
  return Math.min(at, source.length - 1);
}
