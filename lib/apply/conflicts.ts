// The answer to an apply that would take fields from others: one cause a field, and a message that
// names each manager with its fields, as clients print and parse it.
import { StatusError } from '../base/status.ts';
import { ownerIdentity } from './owners.ts';
import type { Writer } from './owners.ts';
import type { Conflict } from './ownership.ts';
import { pathText } from './path-element.ts';

export function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const causes = conflicts.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${ownerText(owner)}`,
    field: pathText(path),
  }));
  return new StatusError(409, 'Conflict', messageOf(conflicts), { causes });
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (conflicts.length === 1 && first !== undefined) {
    const { owner, path } = first;
    return `Apply failed with 1 conflict: conflict with ${ownerText(owner)}: ${pathText(path)}`;
  }
  const owners = new Map<string, string[]>();
  for (const { owner, path } of conflicts) {
    const identity = ownerIdentity(owner);
    const lines = owners.get(identity) ?? [`conflicts with ${ownerText(owner)}:`];
    lines.push(`- ${pathText(path)}`);
    owners.set(identity, lines);
  }
  const lines = [...owners.keys()].sort().flatMap((identity) => owners.get(identity) ?? []);
  return `Apply failed with ${String(conflicts.length)} conflicts: ${lines.join('\n')}`;
}

function ownerText({ manager, operation, apiVersion, subresource }: Writer): string {
  const through = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  const version = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${JSON.stringify(manager)}${through}${version}`;
}
