// The warning of a deprecated version or kind: one sentence, and the release that removes it.
import { apiVersionOf } from './type-info.ts';
import type { Life, ResourceInfo } from './type-info.ts';

export interface Deprecation {
  /** Text of a Warning header. */
  readonly warning: string;
  /** `1.38`, or empty when no removal is set. */
  readonly removedRelease: string;
}

/** undefined: not deprecated in `release` (`1.36`). */
export function deprecationOf(
  resource: Pick<ResourceInfo, 'kind' | 'life' | 'deprecationWarning'>,
  release: string,
): Deprecation | undefined {
  const { deprecationWarning: own } = resource;
  if (own !== undefined) return { warning: own, removedRelease: '' };
  const { deprecated, removed = '', replacement = '' } = resource.life ?? noLife;
  if (deprecated === undefined || isAfter(deprecated, release)) return undefined;
  const { kind } = resource.kind;
  const gone = removed === '' ? '' : `, unavailable in v${removed}+`;
  const instead = replacement === '' ? '' : `; use ${replacementText(replacement)}`;
  const warning = `${apiVersionOf(resource.kind)} ${kind} is deprecated in v${deprecated}+${gone}`;
  return { warning: `${warning}${instead}`, removedRelease: removed };
}

const noLife: Life = {};

/** `group/version/kind` as `group/version kind`; the core group has an empty first part. */
function replacementText(replacement: string): string {
  const slash = replacement.lastIndexOf('/');
  const apiVersion = replacement.slice(0, slash).replace(/^\//, '');
  return `${apiVersion} ${replacement.slice(slash + 1)}`;
}

function isAfter(one: string, other: string): boolean {
  const [major = 0, minor = 0] = one.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}
