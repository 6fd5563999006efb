// PersistentVolumeClaimResize: a bound claim grows where its storage class, which is the one that
// it had, allows that.
import { flagAt, recordAt, recordIn, textAt } from '../../api/json-access.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { nanoOf } from '../../kinds/core/resource-lists.ts';
import { handling } from '../handling.ts';
import { findObject } from '../objects.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';

export function persistentVolumeClaimResize({
  naming,
  objects,
}: Pick<PluginParts, 'naming' | 'objects'>): AdmissionPlugin | undefined {
  const classes = objects('storage.{v}', 'storageclasses');
  if (classes === undefined) return undefined;
  const older = naming.resolve('volume.beta.{kubernetes}.io/storage-class');
  const classOf = (claim: Readonly<ApiObject>): string =>
    textAt(recordIn(claim, 'metadata', 'annotations'), older) ||
    textAt(recordAt(claim, 'spec'), 'storageClassName');
  return {
    name: 'PersistentVolumeClaimResize',
    sideEffects: false,
    handles: handling({ resource: 'persistentvolumeclaims', operations: ['UPDATE'] }),
    validate(request, claim, signal) {
      const { old } = request;
      if (claim === undefined || old === undefined || sizeOf(claim) <= sizeOf(old)) return;
      if (textAt(recordAt(old, 'status'), 'phase') !== 'Bound') {
        throw refusal(request, claim, 'Only bound persistent volume claims can be expanded');
      }
      const name = classOf(claim);
      const isKept = name !== '' && name === classOf(old);
      const found = isKept ? findObject(classes, { namespace: '', name }, signal) : undefined;
      return whenThere(found, (storage) => {
        if (flagAt(storage, 'allowVolumeExpansion')) return;
        throw refusal(
          request,
          claim,
          'only dynamically provisioned pvc can be resized and the storageclass that ' +
            'provisions the pvc must support resize',
        );
      });
    },
  };
}

const sizeOf = (claim: Readonly<ApiObject>): bigint =>
  nanoOf(recordIn(claim, 'spec', 'resources', 'requests')?.['storage']);
