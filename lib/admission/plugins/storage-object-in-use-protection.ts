// StorageObjectInUseProtection: volumes, claims and their attribute classes go only when nobody
// uses them any more; a finalizer holds them until a controller has seen that.
import { metaOf } from '../../codec/object-meta.ts';
import { handling } from '../handling.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

export function storageObjectInUseProtection({
  naming,
}: Pick<PluginParts, 'naming'>): AdmissionPlugin {
  const finalizers: ReadonlyMap<string, string> = new Map([
    ['persistentvolumes', naming.resolve('{kubernetes}.io/pv-protection')],
    ['persistentvolumeclaims', naming.resolve('{kubernetes}.io/pvc-protection')],
    ['volumeattributesclasses', naming.resolve('{kubernetes}.io/vac-protection')],
  ]);
  const operations = ['CREATE'] as const;
  return {
    name: 'StorageObjectInUseProtection',
    sideEffects: false,
    handles: handling(
      { resource: 'persistentvolumes', operations },
      { resource: 'persistentvolumeclaims', operations },
      { group: naming.resolve('storage.{v}'), resource: 'volumeattributesclasses', operations },
    ),
    mutate({ resource }, object) {
      const finalizer = finalizers.get(resource.resource);
      const meta = metaOf(object);
      const given = meta.finalizers ?? [];
      if (finalizer === undefined || given.includes(finalizer)) return false;
      meta.finalizers = [...given, finalizer];
      return true;
    },
  };
}
