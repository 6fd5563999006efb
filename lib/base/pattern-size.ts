// How large the program of a regular expression becomes: its characters, each as often as
// repetitions around it say. An estimate from the text alone, in one pass and before anything is
// compiled.

const digits = /\d+/y;

/** Steps of the compiled expression; never much fewer than they are. Linear in the text. */
export function patternSteps(source: string): number {
  const groups: { readonly total: number; readonly last: number }[] = [];
  let total = 0;
  /** Of the part that a repetition would repeat. */
  let last = 0;
  let at = 0;
  const add = (steps: number): void => {
    total += last;
    last = steps;
  };
  while (at < source.length) {
    const repeat = source[at] === '{' ? repetitionAt(source, at) : undefined;
    if (repeat !== undefined) {
      last *= Math.max(repeat.most, 1);
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
        groups.push({ total, last });
        total = 0;
        last = 1;
        break;
      case ')': {
        const group = total + last + 1;
        const around = groups.pop();
        total = (around?.total ?? 0) + (around?.last ?? 0);
        last = group;
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
  return groups.reduce((sum, group) => sum + group.total + group.last, total + last);
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
