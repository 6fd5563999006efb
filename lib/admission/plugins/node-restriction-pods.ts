// Pods as nodes write them: a node mirrors what it runs by itself, tells how its pods are, evicts
// and deletes them. A mirror names no other object, so that the node is given none for it.
import {
  flagAt,
  isSet,
  listAt,
  recordAt,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isMirrored } from '../../kinds/core/pod-annotations.ts';
import { configMapNames, secretNames } from '../../kinds/core/pod-references.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { finderOf } from './node-write.ts';
import type { FindNamed, NodeWrite, NodeWriteRows } from './node-write.ts';

type Parts = Pick<PluginParts, 'naming' | 'objects'>;
type Holder = Readonly<JsonObject> | undefined;

export function nodeRestrictionPods(parts: Parts): NodeWriteRows {
  const findNode = finderOf(parts, { group: '', resource: 'nodes', singular: 'node' });
  const findPod = finderOf(parts, { group: '', resource: 'pods', singular: 'pod' });
  const mirrorKey = parts.naming.resolve('{kubernetes}.io/config.mirror');
  return {
    pods: {
      group: '',
      check(write) {
        const { subresource } = write.request;
        switch (subresource) {
          case '':
            return checkPod(write, { ...parts, findNode, mirrorKey });
          case 'status':
            checkStatus(write);
            return;
          case 'eviction':
            return checkEviction(write, findPod);
          default:
            return write.refuse(
              `unexpected pod subresource ${JSON.stringify(subresource)}, ` +
                "only 'status' and 'eviction' are allowed",
            );
        }
      },
    },
  };
}

const specOf = (pod: Holder): JsonObject | undefined => recordAt(pod, 'spec');
export const isOn = (pod: Holder, node: string): boolean =>
  textAt(specOf(pod), 'nodeName') === node;

interface MirrorParts extends Parts {
  readonly findNode: FindNamed;
  readonly mirrorKey: string;
}

function checkPod(write: NodeWrite, parts: MirrorParts): MaybePromise<void> {
  const { node, request, refuse } = write;
  const quoted = JSON.stringify(node);
  switch (request.operation) {
    case 'CREATE':
      return checkMirror(write, parts);
    case 'DELETE':
      if (isOn(request.old, node)) return;
      return refuse(`node ${quoted} can only delete pods with spec.nodeName set to itself`);
    case 'UPDATE':
    case 'CONNECT':
      return refuse(
        `unexpected operation ${JSON.stringify(request.operation)}, ` +
          `node ${quoted} can only create and delete mirror pods`,
      );
  }
}

function checkMirror(write: NodeWrite, parts: MirrorParts): MaybePromise<void> {
  const { node, object: pod, signal, refuse } = write;
  const quoted = JSON.stringify(node);
  const metadata = recordAt(pod, 'metadata');
  const only = (what: string): never => refuse(`node ${quoted} can only create pods with ${what}`);
  if (!isMirrored(metadata, parts.naming)) {
    const key = JSON.stringify(parts.mirrorKey);
    refuse(`pod does not have ${key} annotation, node ${quoted} can only create mirror pods`);
  }
  if (!isOn(pod, node)) only('spec.nodeName set to itself');
  const [owner, ...others] = recordsAt(metadata, 'ownerReferences');
  if (others.length > 0) only('a single owner reference set to itself');
  const isItself =
    textAt(owner, 'apiVersion') === 'v1' &&
    textAt(owner, 'kind') === 'Node' &&
    textAt(owner, 'name') === node;
  if (!isItself) only('an owner reference set to itself');
  if (!flagAt(owner, 'controller')) only('a controller owner reference set to itself');
  if (flagAt(owner, 'blockOwnerDeletion')) {
    refuse(`node ${quoted} must not set blockOwnerDeletion on an owner reference`);
  }
  return whenThere(parts.findNode({ namespace: '', name: node }, signal), ({ metadata: of }) => {
    const [expected, got] = [textAt(owner, 'uid'), of?.uid ?? ''];
    if (expected !== got) refuse(`node ${node} UID mismatch: expected ${expected} got ${got}`);
    checkReferences(write);
  });
}

function checkReferences({ node, object, refuse }: NodeWrite): void {
  const named = namedResource(specOf(object), (problem) =>
    refuse(`error checking mirror pod for API references: ${problem}`),
  );
  if (named === undefined) return;
  refuse(`node ${JSON.stringify(node)} can not create pods that reference ${named}`);
}

/** Sources of volumes that name an object, and how the refusal calls it. */
const namingSources: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
};
/** The same of projected sources. */
const namingProjections: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
};
const plainSources: readonly string[] = [
  'awsElasticBlockStore',
  'azureDisk',
  'cephfs',
  'cinder',
  'downwardAPI',
  'emptyDir',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'hostPath',
  'image',
  'iscsi',
  'nfs',
  'photonPersistentDisk',
  'portworxVolume',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
  'vsphereVolume',
];

/** What the pod names of other objects first; what is not known here is a problem. */
function namedResource(spec: Holder, fail: (problem: string) => never): string | undefined {
  if (textAt(spec, 'serviceAccountName') !== '') return 'serviceaccounts';
  if (secretNames(spec).length > 0) return 'secrets';
  if (configMapNames(spec).length > 0) return 'configmaps';
  if (listAt(spec, 'resourceClaims').length > 0) return 'resourceclaims';
  for (const volume of recordsAt(spec, 'volumes')) {
    if (plainSources.some((source) => isSet(volume, source))) continue;
    const named = firstSet(volume, namingSources);
    if (named !== undefined) return named;
    const name = JSON.stringify(textAt(volume, 'name'));
    if (!isSet(volume, 'projected')) fail(`unknown volume type for volume  ${name}`);
    for (const source of recordsAt(recordAt(volume, 'projected'), 'sources')) {
      const projected = firstSet(source, namingProjections);
      if (projected !== undefined) return projected;
      if (!isSet(source, 'downwardAPI')) fail(`unknown source for projected volume ${name}`);
    }
  }
  return undefined;
}

const firstSet = (of: Holder, names: Readonly<Record<string, string>>): string | undefined =>
  Object.entries(names).find(([name]) => isSet(of, name))?.[1];

/** Members of a pod's status that decide which claims its node may read, and their names. */
const claimMembers = {
  resourceClaimStatuses: 'resource claim statues', // as Kubernetes spells it
  extendedResourceClaimStatus: 'extended resource claim status',
  nodeAllocatableResourceClaimStatuses: 'node allocatable resource claim statuses',
} as const;

function checkStatus({ node, request, object: pod, refuse }: NodeWrite): void {
  const { operation, old } = request;
  if (operation !== 'UPDATE') refuse(`unexpected operation ${JSON.stringify(operation)}`);
  const quoted = JSON.stringify(node);
  if (!isOn(old, node)) {
    refuse(`node ${quoted} can only update pod status for pods with spec.nodeName set to itself`);
  }
  if (!sameJson(labelsOf(pod), labelsOf(old))) {
    refuse(`node ${quoted} cannot update labels through pod status`);
  }
  const [now, before] = [recordAt(pod, 'status'), recordAt(old, 'status')];
  for (const [member, what] of Object.entries(claimMembers)) {
    if (sameJson(valueAt(now, member), valueAt(before, member))) continue;
    refuse(`node ${quoted} cannot update ${what}`);
  }
}

const labelsOf = (of: Readonly<ApiObject> | undefined): JsonObject =>
  recordAt(recordAt(of, 'metadata'), 'labels') ?? {};

function checkEviction(write: NodeWrite, findPod: FindNamed): MaybePromise<void> {
  const { node, request, object, signal, refuse } = write;
  if (request.operation !== 'CREATE') refuse(`unexpected operation ${request.operation}`);
  const name = request.name || (object?.metadata?.name ?? '');
  if (name === '') refuse('could not determine pod from request data');
  return whenThere(findPod({ namespace: request.namespace, name }, signal), (pod) => {
    if (isOn(pod, node)) return;
    refuse(`node ${node} can only evict pods with spec.nodeName set to itself`);
  });
}
