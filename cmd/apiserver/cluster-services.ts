// Where services of the cluster are, for calls that name one: at their own address.
import { isIP } from 'node:net';
import { recordAt, recordsAt, numberAt, textAt } from '../../lib/api/json-access.ts';
import type { ResourceView } from '../../lib/cacher/resource-view.ts';
import { resolveBySystem } from '../../lib/client/addresses.ts';
import type { ResolveService } from '../../lib/client/webhook-config.ts';

/** `services`: undefined where none are served. */
export const clusterServices =
  (services: ResourceView | undefined): ResolveService =>
  async ({ namespace, name, port }, signal) => {
    const item = await services?.get({ namespace, name }, { mode: 'any' }, signal);
    if (item === undefined) throw new Error(`service "${name}" not found`);
    const spec = recordAt(item.object(), 'spec');
    if (textAt(spec, 'type') === 'ExternalName') {
      return resolveBySystem(textAt(spec, 'externalName'), signal);
    }
    if (!recordsAt(spec, 'ports').some((one) => numberAt(one, 'port') === port)) {
      throw new Error(`no service port ${String(port)} found for service "${name}"`);
    }
    const ip = textAt(spec, 'clusterIP');
    if (isIP(ip) === 0) throw new Error(`service "${name}" has no address of its own`);
    return [{ ip }];
  };
