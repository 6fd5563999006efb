// Splits a text of several YAML documents, as Kubernetes does: at lines of three dashes.

/** Those without content, too. */
export function yamlDocuments(text: string): readonly string[] {
  const documents: string[] = [];
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    if (!/^---\s*(#.*)?$/.test(line)) {
      lines.push(line);
      continue;
    }
    documents.push(lines.join('\n'));
    lines = [];
  }
  documents.push(lines.join('\n'));
  return documents.filter((document) => document.trim() !== '');
}
