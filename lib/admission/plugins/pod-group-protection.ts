// PodGroupProtection: a group of pods that is deleted stays until no pod belongs to it any more;
// whoever sees to that takes the finalizer off.
import { metaOf } from '../../codec/object-meta.ts';
import { handling } from '../handling.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

export function podGroupProtection({
  naming,
  gates,
}: Pick<PluginParts, 'naming' | 'gates'>): AdmissionPlugin | undefined {
  if (!gates.isEnabled('GenericWorkload')) return undefined;
  const group = naming.resolve('scheduling.{v}');
  const finalizer = `${group}/podgroup-protection`;
  return {
    name: 'PodGroupProtection',
    sideEffects: false,
    handles: handling({ group, resource: 'podgroups', operations: ['CREATE'] }),
    mutate(_request, podGroup) {
      const meta = metaOf(podGroup);
      const given = meta.finalizers ?? [];
      if (given.includes(finalizer)) return false;
      meta.finalizers = [...given, finalizer];
      return true;
    },
  };
}
