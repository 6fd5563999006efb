// Columns of storage classes, drivers and attachments.
import { column, naming, tableOf, text, flag, count, joined, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { textAt, recordAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { defaultableName } from '../shared-columns.ts';

type Kind = Readonly<JsonObject>;

/** The audience without a name is the API server. */
function tokenAudiences(object: Kind): string {
  const requests = recordsAt(recordAt(object, 'spec'), 'tokenRequests');
  if (requests.length === 0) return '<unset>';
  return requests.map((request) => textAt(request, 'audience')).join(',');
}

export const driverColumns: TableColumns = tableOf([
  name,
  column('AttachRequired', 'boolean', flag('spec.attachRequired', true), 'Attaches first.'),
  column('PodInfoOnMount', 'boolean', flag('spec.podInfoOnMount'), 'Wants to know the pod.'),
  column('StorageCapacity', 'boolean', flag('spec.storageCapacity'), 'Reports free capacity.'),
  column('TokenRequests', 'string', tokenAudiences, 'Audiences of the tokens that it gets.'),
  column('RequiresRepublish', 'boolean', flag('spec.requiresRepublish'), 'Mounts repeatedly.'),
  column('Modes', 'string', joined('spec.volumeLifecycleModes', '<none>'), 'Kinds of volumes.'),
  age,
]);

export const csiNodeColumns: TableColumns = tableOf([
  name,
  column('Drivers', 'integer', count('spec.drivers'), 'Drivers on the node.'),
  age,
]);

export const attachmentColumns: TableColumns = tableOf([
  name,
  naming(column('Attacher', 'string', text('spec.attacher'), 'Driver that attaches it.')),
  column('PV', 'string', text('spec.source.persistentVolumeName'), 'Volume to attach.'),
  column('Node', 'string', text('spec.nodeName'), 'Node to attach it to.'),
  column('Attached', 'boolean', flag('status.attached'), 'Whether it is attached.'),
  age,
]);

export const attributesClassColumns: TableColumns = tableOf([
  name,
  column('DriverName', 'string', text('driverName'), 'Driver that knows the settings.'),
  age,
]);

export const storageClassColumns = (profile: NamingProfile): TableColumns =>
  tableOf([
    defaultableName(
      ['storageclass', 'storageclass.beta'].map((prefix) =>
        profile.resolve(`${prefix}.{kubernetes}.io/is-default-class`),
      ),
    ),
    column('Provisioner', 'string', text('provisioner'), 'What makes the volumes.'),
    column('ReclaimPolicy', 'string', text('reclaimPolicy', 'Delete'), 'What ends with a claim.'),
    column(
      'VolumeBindingMode',
      'string',
      text('volumeBindingMode', 'Immediate'),
      'When a claim gets its volume.',
    ),
    column(
      'AllowVolumeExpansion',
      'string',
      flag('allowVolumeExpansion'),
      'Whether claims may grow.',
    ),
    age,
  ]);
