// Who owns the replicas of an object, seen from its scale: there they have one place, in the object
// that of the version that each owner wrote in.
import { difference, intersection, setOf, union } from '../apply/field-set.ts';
import type { FieldSet } from '../apply/field-set.ts';
import { ownerIdentity } from '../apply/owners.ts';
import type { Entry, Owners } from '../apply/owners.ts';
import { fieldElement } from '../apply/path-element.ts';

/** The one field of a scale that can be owned. */
export const scaleReplicas = setOf(['f:spec', 'f:replicas']);

/** Where an object has its replicas in a version; undefined: that has no scale. */
export type ReplicasIn = (apiVersion: string) => FieldSet | undefined;

/** `places`: by `apiVersion`; undefined: every version has them where a scale has. */
export function replicasIn(places: ReadonlyMap<string, readonly string[]> | undefined): ReplicasIn {
  if (places === undefined) return () => scaleReplicas;
  return (apiVersion) => {
    const path = places.get(apiVersion);
    return path === undefined ? undefined : setOf(path.map(fieldElement));
  };
}

const ownsReplicas = ({ fields, apiVersion }: Entry, places: ReplicasIn): boolean => {
  const place = places(apiVersion);
  return place !== undefined && !intersection(fields, place).isEmpty;
};

/** Who owns the replicas of an object, as owners of its scale. */
export function ownersOfScale(owners: Owners, scaleVersion: string, places: ReplicasIn): Owners {
  const found = new Map<string, Entry>();
  for (const [identity, entry] of owners) {
    if (!ownsReplicas(entry, places)) continue;
    found.set(identity, { ...entry, apiVersion: scaleVersion, fields: scaleReplicas });
  }
  return found;
}

/** The owners of an object after those of its scale have changed by a write in `apiVersion`. */
export function ownersAfterScale(
  owners: Owners,
  ofScale: Owners,
  { apiVersion, places }: { readonly apiVersion: string; readonly places: ReplicasIn },
): Owners {
  const result = new Map<string, Entry>();
  const isKept = new Set<string>();
  for (const [identity, entry] of owners) {
    const place = places(entry.apiVersion);
    const kept = ofScale.get(identity);
    if (place === undefined || !ownsReplicas(entry, places)) result.set(identity, entry);
    else if (kept === undefined) {
      result.set(identity, { ...entry, fields: difference(entry.fields, place) });
    } else {
      isKept.add(identity);
      result.set(identity, { ...entry, time: kept.time });
    }
  }
  for (const [identity, owner] of ofScale) {
    if (isKept.has(identity)) continue;
    // Whoever applies is one manager, whatever the version.
    const before = result.get(identity);
    const version = before?.apiVersion ?? apiVersion;
    const fields = places(version) ?? places(apiVersion);
    if (fields === undefined) continue;
    const entry = { ...owner, apiVersion: version, fields };
    const known = result.get(ownerIdentity(entry));
    const all = known === undefined ? fields : union(known.fields, fields);
    result.set(ownerIdentity(entry), { ...entry, fields: all });
  }
  return result;
}
