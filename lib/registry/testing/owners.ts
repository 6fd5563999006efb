// Who owns what of a sent object, as texts that tests compare. For suites.
import { memberPaths } from '../../apply/field-set.ts';
import { readOwners } from '../../apply/owners.ts';
import { pathText } from '../../apply/path-element.ts';
import type { JsonValue } from '../../api/type-info.ts';
import type { Sent } from './verb-driver.ts';

/** `manager/subresource: .path .path`, in the order of managedFields; updates in parentheses. */
export function ownersOf({ metadata }: Sent): string[] {
  const owners = readOwners(metadata['managedFields'] as JsonValue | undefined);
  if (owners === undefined) throw new Error('managedFields cannot be read');
  return [...owners.values()].map(({ manager, operation, subresource, fields }) => {
    const name = subresource === '' ? manager : `${manager}/${subresource}`;
    const paths = [...memberPaths(fields)].map(pathText).join(' ');
    return `${operation === 'Apply' ? name : `(${name})`}: ${paths}`;
  });
}
