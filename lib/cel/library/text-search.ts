// Search in texts by code point, in time that grows with the sum of both lengths: costs of searches
// assume it.

/** Where `part` first starts in `points` at or after `from`; -1: nowhere. */
export function firstPosition(
  points: readonly string[],
  part: readonly string[],
  from: number,
): number {
  const fallbacks = fallbackLengths(part);
  let matched = 0;
  for (let index = from; index < points.length; index++) {
    while (matched > 0 && part[matched] !== points[index]) matched = fallbacks[matched - 1] ?? 0;
    if (part[matched] === points[index]) matched++;
    if (matched === part.length) return index - matched + 1;
  }
  return -1;
}

/** Where `part` last starts in `points` at or before `from`; -1: nowhere. */
export function lastPosition(
  points: readonly string[],
  part: readonly string[],
  from: number,
): number {
  const end = Math.min(from + part.length, points.length);
  const found = firstPosition(points.toReversed(), part.toReversed(), points.length - end);
  return found < 0 ? -1 : points.length - found - part.length;
}

/** For each beginning of `part`: how much of it is still matched after its next point differs. */
function fallbackLengths(part: readonly string[]): Uint32Array {
  const lengths = new Uint32Array(part.length);
  let matched = 0;
  for (let index = 1; index < part.length; index++) {
    while (matched > 0 && part[matched] !== part[index]) matched = lengths[matched - 1] ?? 0;
    if (part[matched] === part[index]) matched++;
    lengths[index] = matched;
  }
  return lengths;
}
