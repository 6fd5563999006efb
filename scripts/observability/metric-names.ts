// Which metrics an expression of PromQL asks for.

/** Words of the language that are no function, which a parenthesis follows. */
const words = new Set(['and', 'or', 'unless', 'bool', 'offset', 'Inf', 'NaN']);

/** Names in the order of their first use; without those that only a pattern gives. */
export function metricNames(expr: string): readonly string[] {
  const bare = expr
    .replaceAll(/"(?:\\.|[^"\\])*"/g, '')
    .replaceAll(/\{[^}]*\}/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right) ?\([^)]*\)/g, ' ');
  const names = [...bare.matchAll(/(?<![\w:$])[A-Za-z_:][\w:]*(?![\w:]|\s*\()/g)].map(
    ([name]) => name,
  );
  return [...new Set(names.filter((name) => !words.has(name)))];
}
