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
