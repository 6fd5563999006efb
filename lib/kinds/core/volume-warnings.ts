// Warnings of volumes: types that are deprecated, files of one volume that hide each other, sizes
// that are no whole bytes; of pods and templates, of persistent volumes and of claims.
import { isSet, recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder, Warnings } from '../validator.ts';
import { claimSpecWarnings } from './claim-warnings.ts';
import { expressionWarnings } from './node-labels.ts';
import { fractionWarnings } from './resource-lists.ts';
import { classAnnotation, optionsAnnotation } from './volume-annotations.ts';
import { overlapWarnings } from './volume-overlaps.ts';

/** Types of volumes, what they are called in warnings, and since when they are deprecated. */
const deprecatedTypes: readonly (readonly [type: string, name: string, since: string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

const typeWarnings = (volume: JsonObject, path: string): readonly string[] =>
  deprecatedTypes
    .filter(([type]) => isSet(volume, type))
    .map(([, name, since]) => `${path}.${name}: ${since}`);

/** `path` is that of the pod's spec. */
export function volumeWarnings(spec: JsonObject, path: string): readonly string[] {
  const volumes = recordsAt(spec, 'volumes');
  return [
    ...volumes.flatMap((volume, at) => {
      const where = `${path}.volumes[${String(at)}]`;
      const template = recordIn(volume, 'ephemeral', 'volumeClaimTemplate');
      const claim = `${where}.ephemeral.volumeClaimTemplate.spec`;
      return [
        ...typeWarnings(volume, where),
        ...(template === undefined ? [] : claimSpecWarnings(recordAt(template, 'spec'), claim)),
      ];
    }),
    ...volumes.flatMap(overlapWarnings),
  ];
}

function annotationWarning(object: Holder, key: string, text: string): readonly string[] {
  const isGiven = isSet(recordIn(object, 'metadata', 'annotations'), key);
  return isGiven ? [`metadata.annotations[${key}]: ${text}`] : [];
}

const classText = 'deprecated since v1.8; use "storageClassName" attribute instead';
const optionsText = 'deprecated since v1.31; use "mountOptions" attribute instead';

export const claimWarnings: Warnings = (write) => [
  ...annotationWarning(write.object, classAnnotation(write.naming), classText),
  ...claimSpecWarnings(recordAt(write.object, 'spec'), 'spec'),
];

/** Of types that pods alone warn of, and persistent volumes do not. */
const silentTypes = ['spec.flocker', 'spec.quobyte'];

export const persistentVolumeWarnings: Warnings = ({ object, naming }) => {
  const spec = recordAt(object, 'spec') ?? {};
  const required = recordIn(spec, 'nodeAffinity', 'required');
  const policy = 'spec.persistentVolumeReclaimPolicy';
  const recycled =
    'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use ' +
    'dynamic provisioning.';
  return [
    ...annotationWarning(object, classAnnotation(naming), classText),
    ...annotationWarning(object, optionsAnnotation(naming), optionsText),
    ...recordsAt(required, 'nodeSelectorTerms').flatMap((term, at) => {
      const path = `spec.nodeAffinity.required.nodeSelectorTerms[${String(at)}]`;
      return expressionWarnings(term, path, naming);
    }),
    ...(textAt(spec, 'persistentVolumeReclaimPolicy') === 'Recycle'
      ? [`${policy}: ${recycled}`]
      : []),
    ...typeWarnings(spec, 'spec').filter(
      (text) => !silentTypes.some((path) => text.startsWith(path)),
    ),
    ...fractionWarnings(recordAt(spec, 'capacity'), 'storage', 'spec.capacity'),
  ];
};
