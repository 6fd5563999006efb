// What the judgement of quotas knows of this server: its spelling and gates, what memory has of
// pods and classes of devices, and the configuration of the plugin.
import type { ItemKey } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { PluginParts } from '../plugin-parts.ts';
import type { ChargeParts } from './charges.ts';
import { readLimitedResources } from './limited-resources.ts';

type Parts = Pick<PluginParts, 'naming' | 'gates' | 'clock' | 'objects' | 'configurationOf'>;

export const quotaPlugin = 'ResourceQuota';

/** @throws Error for a configuration that is wrong */
export function chargeParts(parts: Parts): ChargeParts {
  const { naming, gates, clock } = parts;
  const known = {
    pods: parts.objects('', 'pods'),
    deviceclasses: parts.objects('resource.{v}', 'deviceclasses'),
  };
  return {
    naming,
    gates,
    nowMs: () => clock.nowMs(),
    find(resource: keyof typeof known, key: ItemKey): Readonly<ApiObject> | undefined {
      const item = known[resource]?.view.peek(key);
      return item === undefined || item.corrupted ? undefined : item.object();
    },
    limited: readLimitedResources(parts.configurationOf(quotaPlugin), naming),
  };
}
