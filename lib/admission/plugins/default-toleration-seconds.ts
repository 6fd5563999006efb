// DefaultTolerationSeconds: a pod that says nothing of it stays some minutes on a node that is not
// ready or cannot be reached.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { handling } from '../handling.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

export function defaultTolerationSeconds({
  naming,
  flags,
}: Pick<PluginParts, 'naming' | 'flags'>): AdmissionPlugin {
  const taints = [
    ['node.{kubernetes}.io/not-ready', flags['default-not-ready-toleration-seconds']],
    ['node.{kubernetes}.io/unreachable', flags['default-unreachable-toleration-seconds']],
  ] as const;
  const defaults = taints.map(([key, tolerationSeconds]) => ({
    key: naming.resolve(key),
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds,
  }));
  return {
    name: 'DefaultTolerationSeconds',
    sideEffects: false,
    handles: handling({ resource: 'pods', operations: ['CREATE', 'UPDATE'] }),
    mutate(_request, pod) {
      const spec = recordAt(pod, 'spec');
      if (spec === undefined) return false;
      const given = recordsAt(spec, 'tolerations');
      const missing = defaults.filter(({ key }) => !given.some((one) => isAbout(one, key)));
      if (missing.length === 0) return false;
      spec['tolerations'] = [...given, ...missing.map((one) => ({ ...one }))];
      return true;
    },
  };
}

const isAbout = (toleration: JsonObject, key: string): boolean =>
  ['', key].includes(textAt(toleration, 'key')) &&
  ['', 'NoExecute'].includes(textAt(toleration, 'effect'));
