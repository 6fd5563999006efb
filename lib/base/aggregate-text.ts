// Several messages as one text, as Kubernetes writes them: each once, in brackets unless it is the
// only one; none are no text.
export function aggregateText(messages: Iterable<string>): string {
  const each = [...new Set(messages)];
  return each.length < 2 ? each.join() : `[${each.join(', ')}]`;
}
