// Columns of volumes, claims, storage classes and drivers.
import { isSet, recordAt, recordsAt, textAt, textsAt } from '../json-access.ts';
import type { JsonObject } from '../type-info.ts';
import type { NamingProfile } from '../vendor.ts';
import { age, column, count, flag, joined, name, naming, tableOf, text, wide } from './column.ts';
import type { TableColumns } from './column.ts';
import { defaultableName } from './network.ts';

type Kind = Readonly<JsonObject>;

/** Short names of access modes, in the order of columns. */
const modeNames: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function modesOf(part: JsonObject | undefined): string {
  const given = textsAt(part, 'accessModes');
  return modeNames
    .filter(([mode]) => given.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

const storageOf = (part: JsonObject | undefined): string =>
  textAt(recordAt(part, 'capacity'), 'storage');

const phaseOf = (object: Kind): string =>
  isSet(recordAt(object, 'metadata'), 'deletionTimestamp')
    ? 'Terminating'
    : textAt(recordAt(object, 'status'), 'phase');

const classOf = (profile: NamingProfile): ((object: Kind) => string) => {
  const annotation = profile.resolve('volume.beta.{kubernetes}.io/storage-class');
  return (object) => {
    const annotations = recordAt(recordAt(object, 'metadata'), 'annotations');
    return isSet(annotations, annotation)
      ? textAt(annotations, annotation)
      : textAt(recordAt(object, 'spec'), 'storageClassName');
  };
};

function claimOf(object: Kind): string {
  const claim = recordAt(recordAt(object, 'spec'), 'claimRef');
  return claim === undefined ? '' : `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`;
}

/** What a claim was given, once it has a volume. */
const ofBound =
  (show: (status: JsonObject | undefined) => string) =>
  (claim: Kind): string =>
    textAt(recordAt(claim, 'spec'), 'volumeName') === '' ? '' : show(recordAt(claim, 'status'));

const className = (profile: NamingProfile): ReturnType<typeof column> =>
  column('StorageClass', 'string', classOf(profile), 'Class that the storage belongs to.');
const attributesClass = column(
  'VolumeAttributesClass',
  'string',
  text('spec.volumeAttributesClassName', '<unset>'),
  'Class of the settings of the volume.',
);
const volumeMode = wide(
  column('VolumeMode', 'string', text('spec.volumeMode', '<unset>'), 'File system or raw device.'),
);

const tokenAudiences = (object: Kind): string =>
  recordsAt(recordAt(object, 'spec'), 'tokenRequests')
    .map((request) => textAt(request, 'audience'))
    .join(',') || '<unset>';

const volumeColumns = (profile: NamingProfile): Readonly<Record<string, TableColumns>> => ({
  'core/PersistentVolume': tableOf([
    name,
    column('Capacity', 'string', (one) => storageOf(recordAt(one, 'spec')), 'Size of the volume.'),
    column('Access Modes', 'string', (one) => modesOf(recordAt(one, 'spec')), 'How it is mounted.'),
    column(
      'Reclaim Policy',
      'string',
      text('spec.persistentVolumeReclaimPolicy'),
      'What becomes of it after its claim.',
    ),
    column('Status', 'string', phaseOf, 'Whether it is free, bound or ending.'),
    column('Claim', 'string', claimOf, 'Claim that it is bound to.'),
    className(profile),
    attributesClass,
    column('Reason', 'string', text('status.reason'), 'Why it failed.'),
    age,
    volumeMode,
  ]),
  'core/PersistentVolumeClaim': tableOf([
    name,
    column('Status', 'string', phaseOf, 'Whether it has a volume or is ending.'),
    column('Volume', 'string', text('spec.volumeName'), 'Volume that it is bound to.'),
    column('Capacity', 'string', ofBound(storageOf), 'Size of its volume.'),
    column('Access Modes', 'string', ofBound(modesOf), 'How its volume is mounted.'),
    className(profile),
    attributesClass,
    age,
    volumeMode,
  ]),
});

const driverColumns: Readonly<Record<string, TableColumns>> = {
  'storage/CSIDriver': tableOf([
    name,
    column('AttachRequired', 'boolean', flag('spec.attachRequired', true), 'Attaches first.'),
    column('PodInfoOnMount', 'boolean', flag('spec.podInfoOnMount'), 'Wants to know the pod.'),
    column('StorageCapacity', 'boolean', flag('spec.storageCapacity'), 'Reports free capacity.'),
    column('TokenRequests', 'string', tokenAudiences, 'Audiences of the tokens that it gets.'),
    column('RequiresRepublish', 'boolean', flag('spec.requiresRepublish'), 'Mounts repeatedly.'),
    column('Modes', 'string', joined('spec.volumeLifecycleModes', '<none>'), 'Kinds of volumes.'),
    age,
  ]),
  'storage/CSINode': tableOf([
    name,
    column('Drivers', 'integer', count('spec.drivers'), 'Drivers on the node.'),
    age,
  ]),
  'storage/VolumeAttachment': tableOf([
    name,
    naming(column('Attacher', 'string', text('spec.attacher'), 'Driver that attaches it.')),
    column('PV', 'string', text('spec.source.persistentVolumeName'), 'Volume to attach.'),
    column('Node', 'string', text('spec.nodeName'), 'Node to attach it to.'),
    column('Attached', 'boolean', flag('status.attached'), 'Whether it is attached.'),
    age,
  ]),
  'storage/VolumeAttributesClass': tableOf([
    name,
    column('DriverName', 'string', text('driverName'), 'Driver that knows the settings.'),
    age,
  ]),
};

export const storageColumns = (profile: NamingProfile): Readonly<Record<string, TableColumns>> => ({
  ...volumeColumns(profile),
  'storage/StorageClass': tableOf([
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
  ]),
  ...driverColumns,
  'storagemigration/StorageVersionMigration': tableOf([
    { ...name, definition: { ...name.definition, format: '' } },
    column('Resource', 'string', migratedResource, 'Resource whose objects are rewritten.'),
    column('Status', 'string', migrationStatus, 'How far the migration has come.'),
  ]),
});

function migratedResource(object: Kind): string {
  const resource = recordAt(recordAt(object, 'spec'), 'resource');
  return `${textAt(resource, 'resource')}.${textAt(resource, 'group')}`;
}

function migrationStatus(object: Kind): string {
  const conditions = recordsAt(recordAt(object, 'status'), 'conditions');
  const holding = conditions
    .filter((one) => textAt(one, 'status') === 'True')
    .map((one) => textAt(one, 'type'))
    .filter((type) => ['Running', 'Failed', 'Succeeded'].includes(type));
  return holding.at(-1) ?? 'Unknown';
}
