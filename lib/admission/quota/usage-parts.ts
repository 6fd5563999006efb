// What measuring for quotas knows of this server: its spelling, its gates, the time, and what memory
// has of pods and classes of devices.
import type { NamingProfile } from '../../api/vendor.ts';
import type { Clock } from '../../base/clock.ts';
import type { ResourceView } from '../../cacher/resource-view.ts';
import type { UsageParts } from './measure.ts';

export interface UsageSources {
  readonly naming: NamingProfile;
  readonly gates: UsageParts['gates'];
  readonly clock: Clock;
  /** undefined: nobody serves it. */
  viewOf(group: string, resource: string): Pick<ResourceView, 'peek'> | undefined;
}

export function usageParts(sources: UsageSources): UsageParts {
  const { naming, gates, clock } = sources;
  return {
    naming,
    gates,
    nowMs: () => clock.nowMs(),
    find(resource, key) {
      const group = resource === 'pods' ? '' : naming.resolve('resource.{v}');
      const item = sources.viewOf(group, resource)?.peek(key);
      return item === undefined || item.corrupted ? undefined : item.object();
    },
  };
}
