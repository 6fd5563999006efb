// What the judgement of quotas is made of in this server: what measuring knows, and the
// configuration of the plugin.
import type { PluginParts } from '../plugin-parts.ts';
import type { ChargeParts } from './charges.ts';
import { readLimitedResources } from './limited-resources.ts';
import { usageParts } from './usage-parts.ts';

type Parts = Pick<PluginParts, 'naming' | 'gates' | 'clock' | 'objects' | 'configurationOf'>;

export const quotaPlugin = 'ResourceQuota';

/** @throws Error for a configuration that is wrong */
export function chargeParts(parts: Parts): ChargeParts {
  const { naming } = parts;
  const measuring = usageParts({
    ...parts,
    viewOf: (group, resource) => parts.objects(group, resource)?.view,
  });
  const limited = readLimitedResources(parts.configurationOf(quotaPlugin), naming);
  return { ...measuring, limited };
}
