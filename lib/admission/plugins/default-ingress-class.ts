// DefaultIngressClass: an ingress that names no class gets the one that is for all.
import { isSet, recordAt, recordIn } from '../../api/json-access.ts';
import { defaultClass } from '../default-class.ts';
import { handling } from '../handling.ts';
import { listObjects } from '../objects.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

export function defaultIngressClass({
  naming,
  objects,
}: Pick<PluginParts, 'naming' | 'objects'>): AdmissionPlugin | undefined {
  const classes = objects('networking.{v}', 'ingressclasses');
  if (classes === undefined) return undefined;
  const marks = [naming.resolve('ingressclass.{kubernetes}.io/is-default-class')];
  const older = naming.resolve('{kubernetes}.io/ingress.class');
  const group = naming.resolve('networking.{v}');
  return {
    name: 'DefaultIngressClass',
    sideEffects: false,
    handles: handling({ group, resource: 'ingresses', operations: ['CREATE'] }),
    async mutate(_request, ingress, signal) {
      const spec = recordAt(ingress, 'spec') ?? {};
      const annotations = recordIn(ingress, 'metadata', 'annotations');
      if (isSet(spec, 'ingressClassName') || isSet(annotations, older)) return false;
      const name = defaultClass(await listObjects(classes, '', 'any', signal), marks);
      if (name === undefined) return false;
      ingress['spec'] = { ...spec, ingressClassName: name };
      return true;
    },
  };
}
