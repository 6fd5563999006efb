// Several messages as one text, as Kubernetes writes them: each once, in brackets unless it is the
// only one.
export function aggregateText(messages: Iterable<string>): string {
  const each = [...new Set(messages)];
  return each.length === 1 ? each.join() : `[${each.join(', ')}]`;
}
