// Columns of volumes and claims.
import { column, wide, tableOf, text, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { isSet, textAt, recordAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { classAnnotation } from './volume-annotations.ts';

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
  const annotation = classAnnotation(profile);
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
/** The empty name says that there is none. */
const attributesClassOf = (object: Kind): string => {
  const spec = recordAt(object, 'spec');
  const field = 'volumeAttributesClassName';
  return isSet(spec, field) ? textAt(spec, field) : '<unset>';
};
const attributesClass = column(
  'VolumeAttributesClass',
  'string',
  attributesClassOf,
  'Class of the settings of the volume.',
);
const volumeMode = wide(
  column('VolumeMode', 'string', text('spec.volumeMode', '<unset>'), 'File system or raw device.'),
);

export const volumeColumns = (profile: NamingProfile): TableColumns =>
  tableOf([
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
  ]);

export const claimColumns = (profile: NamingProfile): TableColumns =>
  tableOf([
    name,
    column('Status', 'string', phaseOf, 'Whether it has a volume or is ending.'),
    column('Volume', 'string', text('spec.volumeName'), 'Volume that it is bound to.'),
    column(
      'Capacity',
      'string',
      ofBound((one) => storageOf(one) || '0'),
      'Size of its volume.',
    ),
    column('Access Modes', 'string', ofBound(modesOf), 'How its volume is mounted.'),
    className(profile),
    attributesClass,
    age,
    volumeMode,
  ]);
