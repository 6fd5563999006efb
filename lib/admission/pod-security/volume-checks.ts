// The check of volumes: pods bring none of storage systems themselves, claims do.
import { isSet, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { named, nameOf, nounOf, quoted, sortedOnce } from './check.ts';
import type { Check, PodCheck } from './check.ts';

const allowedTypes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const restrictedTypes = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
];

const typeAmong = (volume: JsonObject, types: readonly string[]): string | undefined =>
  types.find((type) => isSet(volume, type));

const hasRestrictedVolumes: PodCheck = ({ spec }) => {
  const wrong = recordsAt(spec, 'volumes').filter(
    (volume) => typeAmong(volume, allowedTypes) === undefined,
  );
  if (wrong.length === 0) return undefined;
  const types = sortedOnce(wrong.map((volume) => typeAmong(volume, restrictedTypes) ?? 'unknown'));
  const uses = wrong.length === 1 ? 'uses' : 'use';
  const noun = nounOf('restricted volume type', types);
  return {
    reason: 'restricted volume types',
    detail: `${named('volume', wrong.map(nameOf))} ${uses} ${noun} ${quoted(types)}`,
  };
};

export const volumeChecks: readonly Check[] = [
  {
    id: 'restrictedVolumes',
    level: 'restricted',
    versions: [{ since: 0, check: hasRestrictedVolumes }],
    overrides: 'hostPathVolumes',
  },
];
