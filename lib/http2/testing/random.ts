// Random choices that a seed repeats.

export type Below = (limit: number) => number;

/** Below `limit`; a linear congruential generator, whose high bits are used. */
export function randomOf(start: number): Below {
  let state = start >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
