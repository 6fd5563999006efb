// Names of a definition: those that it asks for, and those that it was given.
import type { FieldErrors } from '../../api/field-errors.ts';
import { textAt, textsAt } from '../../api/json-access.ts';
import { dns1035LabelProblems } from '../../api/name-rules.ts';
import type { Holder } from '../validator.ts';

/** Names that a definition cannot be without. */
export function requireNames(names: Holder, path: string, errors: FieldErrors): void {
  for (const name of ['plural', 'singular', 'kind', 'listKind']) {
    if (textAt(names, name) === '') errors.required(`${path}.${name}`);
  }
}

export function validateNames(names: Holder, path: string, errors: FieldErrors): void {
  for (const name of ['plural', 'singular']) {
    const text = textAt(names, name);
    if (text !== '') validateLabel(text, `${path}.${name}`, errors);
  }
  for (const name of ['kind', 'listKind']) {
    const text = textAt(names, name);
    const problems = text === '' ? [] : dns1035LabelProblems(text.toLowerCase());
    if (problems.length === 0) continue;
    const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    errors.invalid(`${path}.${name}`, text, detail);
  }
  for (const [at, name] of textsAt(names, 'shortNames').entries()) {
    validateLabel(name, `${path}.shortNames[${String(at)}]`, errors);
  }
  const kind = textAt(names, 'kind');
  if (kind !== '' && kind === textAt(names, 'listKind')) {
    errors.invalid(`${path}.listKind`, kind, 'kind and listKind may not be the same');
  }
  for (const [at, name] of textsAt(names, 'categories').entries()) {
    validateLabel(name, `${path}.categories[${String(at)}]`, errors);
  }
}

/** A DNS-1035 label; all that is wrong with it is one failure. */
export function validateLabel(text: string, path: string, errors: FieldErrors): void {
  const problems = dns1035LabelProblems(text);
  if (problems.length > 0) errors.invalid(path, text, problems.join(','));
}
