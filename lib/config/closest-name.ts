// Of many names the one that a misspelt name was probably meant to be.

/** Less than this says nothing: almost every name holds it. */
const partLengthMin = 3;

/**
 * The name with the fewest letters to change, add or take away, as long as that is at most a third
 * of them; else the shortest one that holds the given name, or that it holds. undefined: none.
 */
export function closestName(given: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, changes: changesBetween(given, name) }))
    .sort((a, b) => a.changes - b.changes);
  const nearest = ranked[0];
  if (nearest !== undefined && nearest.changes <= given.length / 3) return nearest.name;
  return names
    .filter((name) => Math.min(name.length, given.length) >= partLengthMin)
    .filter((name) => name.includes(given) || given.includes(name))
    .sort((a, b) => a.length - b.length)[0];
}

/** Levenshtein's distance, by one row of its table at a time. */
function changesBetween(given: string, name: string): number {
  let above = Array.from({ length: name.length + 1 }, (_, column) => column);
  for (let line = 1; line <= given.length; line++) {
    const row = [line];
    for (let column = 1; column <= name.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (given[line - 1] === name[column - 1] ? 0 : 1);
      const changed = Math.min(above[column] ?? 0, row[column - 1] ?? 0) + 1;
      row.push(Math.min(replaced, changed));
    }
    above = row;
  }
  return above[name.length] ?? 0;
}
