// Texts that name indexes of a job, such as `0,3-5`: rising, and below the number of completions.
const indexPattern = /^[+-]?\d+$/;

interface Interval {
  readonly from: number;
  readonly to: number;
}

type Read<T> = T | { readonly problem: string };

/** How many indexes a text names, or why it names none. */
export function countIndexes(text: string, completions: number): Read<{ readonly count: number }> {
  let count = 0;
  let last: number | undefined;
  for (const part of text === '' ? [] : text.split(',')) {
    const interval = intervalOf(part, completions);
    if ('problem' in interval) return interval;
    const { from, to } = interval;
    if (last !== undefined && last >= from) return notRising(last, from);
    count += to - from + 1;
    last = to;
  }
  return { count };
}

/** The first index that both texts name; what cannot be read names none. */
export function commonIndex(text: string, other: string, completions: number): number | undefined {
  const intervalsOf = (one: string): readonly Interval[] =>
    (one === '' ? [] : one.split(',')).flatMap((part) => {
      const interval = intervalOf(part, completions);
      return 'problem' in interval ? [] : [interval];
    });
  const [left, right] = [intervalsOf(text), intervalsOf(other)];
  let [at, otherAt] = [0, 0];
  for (;;) {
    const [one, two] = [left[at], right[otherAt]];
    if (one === undefined || two === undefined) return undefined;
    if (one.from <= two.to && two.from <= one.to) return Math.max(one.from, two.from);
    if (one.from <= two.from) at += 1;
    else otherAt += 1;
  }
}

function intervalOf(text: string, completions: number): Read<Interval> {
  const limits = text.split('-');
  if (limits.length > 2) {
    const problem =
      `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can ` +
      "have at most two parts separated by '-'";
    return { problem };
  }
  const numbers: number[] = [];
  for (const limit of limits) {
    if (!indexPattern.test(limit)) {
      return { problem: `cannot convert string to integer for index: ${JSON.stringify(limit)}` };
    }
    if (Number(limit) >= completions) {
      return { problem: `too large index: ${JSON.stringify(limit)}` };
    }
    numbers.push(Number(limit));
  }
  const [from = 0, to = from] = numbers;
  return numbers.length > 1 && from >= to ? notRising(from, to) : { from, to };
}

const notRising = (last: number, next: number): { readonly problem: string } => ({
  problem: `non-increasing order, previous: ${String(last)}, current: ${String(next)}`,
});
