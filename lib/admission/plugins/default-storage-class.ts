// DefaultStorageClass: a claim that names no storage class gets the one that is for all.
import { isSet, recordAt, recordIn } from '../../api/json-access.ts';
import { defaultClass } from '../default-class.ts';
import { handling } from '../handling.ts';
import { listObjects } from '../objects.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

export function defaultStorageClass({
  naming,
  objects,
}: Pick<PluginParts, 'naming' | 'objects'>): AdmissionPlugin | undefined {
  const classes = objects('storage.{v}', 'storageclasses');
  if (classes === undefined) return undefined;
  const marks = ['storageclass', 'storageclass.beta'].map((prefix) =>
    naming.resolve(`${prefix}.{kubernetes}.io/is-default-class`),
  );
  const older = naming.resolve('volume.beta.{kubernetes}.io/storage-class');
  return {
    name: 'DefaultStorageClass',
    sideEffects: false,
    handles: handling({ resource: 'persistentvolumeclaims', operations: ['CREATE'] }),
    async mutate(_request, claim, signal) {
      const spec = recordAt(claim, 'spec');
      const isNamed =
        isSet(spec, 'storageClassName') || isSet(recordIn(claim, 'metadata', 'annotations'), older);
      if (spec === undefined || isNamed) return false;
      const name = defaultClass(await listObjects(classes, '', 'any', signal), marks);
      if (name === undefined) return false;
      spec['storageClassName'] = name;
      return true;
    },
  };
}
