// The objects that benchmarks write: Pods of 2.5 KB in a namespace, ConfigMaps of 1 KB.
import type { JsonObject } from '../../lib/api/type-info.ts';

/** Brings the sample Pod to 2.5 KB. */
const notes = 'Rolled out by the nightly pipeline; see the run book before touching. '.repeat(4);

/** A copy of the Pod with another identity, 2.5 KB of JSON. */
export function podIn(
  pod: JsonObject,
  namespace: string,
  index: number,
  change: { readonly labels?: JsonObject; readonly nodeName?: string } = {},
): JsonObject {
  const { labels, nodeName } = change;
  const metadata = pod['metadata'] as JsonObject;
  const spec = pod['spec'] as JsonObject;
  return {
    ...pod,
    metadata: {
      ...metadata,
      namespace,
      name: `web-${String(index).padStart(6, '0')}`,
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...(metadata['annotations'] as JsonObject), 'example.com/notes': notes },
    },
    spec: nodeName === undefined ? spec : { ...spec, nodeName },
  };
}

/** As clients send them: without what the server sets, and without owners, which are not there. */
export function asSent(object: JsonObject): JsonObject {
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _created,
    ownerReferences: _owners,
    ...metadata
  } = object['metadata'] as JsonObject;
  return { ...object, metadata };
}

export const configMap = (namespace: string, index: number): JsonObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name: `settings-${String(index).padStart(6, '0')}`,
    namespace,
    labels: { app: 'web', tier: 'frontend' },
  },
  data: { 'settings.yaml': 'key: value-of-some-length\n'.repeat(32) },
});

/** The account of the pods in a namespace. */
export const accountObject = (namespace: string): JsonObject => ({
  kind: 'ServiceAccount',
  apiVersion: 'v1',
  metadata: { name: 'web', namespace },
});

export const namespaceObject = (name: string): JsonObject => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: { name },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
});

/** The Lease by which a node says that it lives; without its owner, which is not there. */
export const leaseObject = (namespace: string, index: number): JsonObject => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: {
    name: `node-${String(index).padStart(6, '0')}`,
    namespace,
  },
  spec: {
    holderIdentity: `node-${String(index).padStart(6, '0')}`,
    leaseDurationSeconds: 40,
    renewTime: '2026-01-01T00:00:00.000000Z',
  },
});

/** An Event of a Pod, as schedulers and nodes write them. */
export const eventObject = (namespace: string, index: number): JsonObject => ({
  kind: 'Event',
  apiVersion: 'v1',
  metadata: { name: `web-${String(index).padStart(6, '0')}.17f1c0de5a`, namespace },
  involvedObject: {
    kind: 'Pod',
    namespace,
    name: `web-${String(index).padStart(6, '0')}`,
    uid: 'd9f5ad29-3a52-4a1f-9f3f-6c8cb1a2c001',
    apiVersion: 'v1',
    fieldPath: 'spec.containers{app}',
  },
  reason: 'Pulled',
  message: 'Container image "registry.example.com/web:1.2.3" already present on machine',
  source: { component: 'node-agent', host: 'node-000001' },
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:00:00Z',
  count: 1,
  type: 'Normal',
});
