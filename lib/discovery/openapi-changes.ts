// What a change of served resources changes in the documents of OpenAPI: who is added, is described
// anew, or goes. Documents are written when somebody asks for them; this is told at once.
import type { ResourceInfo } from '../api/type-info.ts';
import { inputsOf } from './openapi-sources.ts';

export type ChangeReason = 'add' | 'update' | 'remove';

export interface OpenApiObserver {
  /** `definition`: PLURAL.GROUP. A document of all versions describes it otherwise. */
  onWhole(definition: string, reason: ChangeReason): void;
  onPart(
    of: { readonly definition: string; readonly group: string; readonly version: string },
    reason: ChangeReason,
  ): void;
}

/** `former` and `now`: all versions of kinds that come at run time, before and after the change. */
export function tellChanges(
  former: readonly ResourceInfo[],
  now: readonly ResourceInfo[],
  observer: OpenApiObserver,
): void {
  const [before, after] = [published(former), published(now)];
  const names = new Set([...before.keys(), ...after.keys()]);
  for (const definition of names) {
    const [old, next] = [before.get(definition), after.get(definition)];
    const changed = new Map<ResourceInfo, ChangeReason>();
    for (const [version, one] of next ?? []) {
      const known = old?.get(version);
      if (known === undefined) changed.set(one, 'add');
      else if (inputsOf(known) !== inputsOf(one)) changed.set(one, 'update');
    }
    for (const [version, one] of old ?? []) if (!next?.has(version)) changed.set(one, 'remove');
    for (const [{ group, version }, reason] of changed) {
      observer.onPart({ definition, group, version }, reason);
    }
    const whole = old === undefined ? 'add' : next === undefined ? 'remove' : 'update';
    if (changed.size > 0) observer.onWhole(definition, whole);
  }
}

type ByVersion = Map<string, ResourceInfo>;

function published(resources: readonly ResourceInfo[]): ReadonlyMap<string, ByVersion> {
  const found = new Map<string, ByVersion>();
  for (const one of resources) {
    if (one.published?.isListed !== true) continue;
    const name = `${one.resource}.${one.group}`;
    const versions = found.get(name) ?? new Map<string, ResourceInfo>();
    found.set(name, versions.set(one.version, one));
  }
  return found;
}
