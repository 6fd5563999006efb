// Warnings of the volumes of a pod or template: types that are deprecated.
import { isSet, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

/** Types of volumes in pods, and since when they are deprecated. */
const deprecatedTypes: readonly (readonly [string, string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

/** `path` is that of the pod's spec. */
export function volumeWarnings(spec: JsonObject, path: string): readonly string[] {
  return recordsAt(spec, 'volumes').flatMap((volume, at) =>
    deprecatedTypes
      .filter(([name]) => isSet(volume, name))
      .map(([name, since]) => `${path}.volumes[${String(at)}].${name}: ${since}`),
  );
}
