// Which objects of its namespace a pod names, by every way that there is. A name may come several
// times; empty names are left out.
import { isSet, recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { containerLists } from './pod-systems.ts';

type Holder = Readonly<JsonObject> | undefined;

/** Sources of volumes whose `secretRef` names a secret. */
const sourcesWithSecretRef = [
  'cephfs',
  'cinder',
  'flexVolume',
  'iscsi',
  'rbd',
  'scaleIO',
  'storageos',
] as const;

/** Secrets of pull credentials, environments and volumes. */
export function secretNames(spec: Holder): readonly string[] {
  const names = recordsAt(spec, 'imagePullSecrets').map((one) => textAt(one, 'name'));
  collectFromContainers(spec, { all: 'secretRef', one: 'secretKeyRef' }, names);
  for (const volume of recordsAt(spec, 'volumes')) {
    names.push(
      textAt(recordAt(volume, 'secret'), 'secretName'),
      textAt(recordAt(volume, 'azureFile'), 'secretName'),
      textAt(recordIn(volume, 'csi', 'nodePublishSecretRef'), 'name'),
    );
    for (const source of sourcesWithSecretRef) {
      names.push(textAt(recordIn(volume, source, 'secretRef'), 'name'));
    }
    collectFromProjected(volume, 'secret', names);
  }
  return names.filter(isGiven);
}

/** ConfigMaps of environments and volumes. */
export function configMapNames(spec: Holder): readonly string[] {
  const names: string[] = [];
  collectFromContainers(spec, { all: 'configMapRef', one: 'configMapKeyRef' }, names);
  for (const volume of recordsAt(spec, 'volumes')) {
    names.push(textAt(recordAt(volume, 'configMap'), 'name'));
    collectFromProjected(volume, 'configMap', names);
  }
  return names.filter(isGiven);
}

/** Claims of volumes: named ones, and those that are made for the pod by its name. */
export const volumeClaimNames = (pod: Holder): readonly string[] =>
  recordsAt(recordAt(pod, 'spec'), 'volumes')
    .map((volume) => volumeClaimName(pod, volume))
    .filter(isGiven);

/** '' where the volume has no claim. */
export const volumeClaimName = (pod: Holder, volume: Holder): string =>
  isSet(volume, 'ephemeral')
    ? `${textAt(recordAt(pod, 'metadata'), 'name')}-${textAt(volume, 'name')}`
    : textAt(recordAt(volume, 'persistentVolumeClaim'), 'claimName');

/**
 * Resource claims that are named, and those that were made for the pod, which its status tells. One
 * that is yet to be made has no name.
 */
export function resourceClaimNames(pod: Holder): readonly string[] {
  const status = recordAt(pod, 'status');
  const made = recordsAt(status, 'resourceClaimStatuses');
  const names = recordsAt(recordAt(pod, 'spec'), 'resourceClaims').map((claim) => {
    const named = textAt(claim, 'resourceClaimName');
    if (named !== '' || textAt(claim, 'resourceClaimTemplateName') === '') return named;
    const entry = textAt(claim, 'name');
    const found = made.find((one) => textAt(one, 'name') === entry);
    return textAt(found, 'resourceClaimName');
  });
  names.push(textAt(recordAt(status, 'extendedResourceClaimStatus'), 'resourceClaimName'));
  return names.filter(isGiven);
}

const isGiven = (name: string): boolean => name !== '';

interface EnvironmentMembers {
  /** Of `envFrom`. */
  readonly all: string;
  /** Of `env[*].valueFrom`. */
  readonly one: string;
}

function collectFromContainers(
  spec: Holder,
  { all, one }: EnvironmentMembers,
  into: string[],
): void {
  for (const list of containerLists) {
    for (const container of recordsAt(spec, list)) {
      for (const source of recordsAt(container, 'envFrom')) {
        into.push(textAt(recordAt(source, all), 'name'));
      }
      for (const variable of recordsAt(container, 'env')) {
        into.push(textAt(recordIn(variable, 'valueFrom', one), 'name'));
      }
    }
  }
}

function collectFromProjected(volume: Holder, member: string, into: string[]): void {
  for (const source of recordsAt(recordAt(volume, 'projected'), 'sources')) {
    into.push(textAt(recordAt(source, member), 'name'));
  }
}
