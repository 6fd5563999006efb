// ExtendedResourceToleration: a pod that asks for devices tolerates the taint by which nodes with
// such devices are kept for it.
import { recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { isExtendedResource } from '../../kinds/core/resource-names.ts';
import { handling } from '../handling.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

export const extendedResourceToleration = ({
  naming,
}: Pick<PluginParts, 'naming'>): AdmissionPlugin => ({
  name: 'ExtendedResourceToleration',
  sideEffects: false,
  handles: handling({ resource: 'pods', operations: ['CREATE', 'UPDATE'] }),
  mutate(_request, pod) {
    const spec = recordAt(pod, 'spec') ?? {};
    const containers = [...recordsAt(spec, 'initContainers'), ...recordsAt(spec, 'containers')];
    const asked = containers.flatMap((container) =>
      Object.keys(recordIn(container, 'resources', 'requests') ?? {}),
    );
    const names = [...new Set(asked.filter((name) => isExtendedResource(name, naming)))].sort();
    const before = recordsAt(spec, 'tolerations');
    const after = names.reduce(withToleration, before);
    if (after === before) return false;
    spec['tolerations'] = [...after];
    return true;
  },
});

/** In place of one that differs in nothing but the time. */
function withToleration(given: readonly JsonObject[], key: string): readonly JsonObject[] {
  const wanted = { key, operator: 'Exists', effect: 'NoSchedule' };
  const at = given.findIndex((one) =>
    (['key', 'operator', 'effect', 'value'] as const).every(
      (name) => textAt(one, name) === (name === 'value' ? '' : wanted[name]),
    ),
  );
  if (at < 0) return [...given, wanted];
  return sameJson(given[at], wanted) ? given : given.with(at, wanted);
}
