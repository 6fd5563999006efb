// What requests of a deprecated version are told: what its definition says, else which version of
// the definition comes before it.
import { compareVersions } from '../api/version-order.ts';
import type { Definition, DefinitionVersion } from './definition.ts';

/** undefined: the version is not deprecated. */
export function deprecationWarningOf(
  { group, names, versions }: Definition,
  { name, deprecated, deprecationWarning }: DefinitionVersion,
): string | undefined {
  if (!deprecated) return undefined;
  if (deprecationWarning !== undefined) return deprecationWarning;
  const [better] = versions
    .filter((one) => one.served && !one.deprecated && compareVersions(one.name, name) < 0)
    .sort((one, other) => compareVersions(one.name, other.name));
  const text = `${group}/${name} ${names.kind} is deprecated`;
  return better === undefined ? text : `${text}; use ${group}/${better.name} ${names.kind}`;
}
