// `namespaceObject` of expressions: the parts of a namespace that rules may rely on.
import { recordAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';

const shownMetadata = [
  'name',
  'generateName',
  'namespace',
  'labels',
  'annotations',
  'uid',
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generation',
  'resourceVersion',
  'finalizers',
];

const known = new WeakMap<Readonly<ApiObject>, Readonly<JsonObject>>();

/** Made once for each version of a namespace. */
export function namespaceObject(namespace: Readonly<ApiObject>): Readonly<JsonObject> {
  const made = known.get(namespace) ?? shownOf(namespace);
  known.set(namespace, made);
  return made;
}

function shownOf(namespace: Readonly<ApiObject>): Readonly<JsonObject> {
  const all = recordAt(namespace, 'metadata') ?? {};
  const metadata: JsonObject = {};
  for (const name of shownMetadata) {
    const value = all[name];
    if (value !== undefined) metadata[name] = value;
  }
  return {
    metadata,
    spec: recordAt(namespace, 'spec') ?? {},
    status: recordAt(namespace, 'status') ?? {},
  };
}
