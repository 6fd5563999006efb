// The kinds of storage: one record each.
import type { Kind } from '../kind.ts';
import {
  attachmentColumns,
  attributesClassColumns,
  csiNodeColumns,
  driverColumns,
  storageClassColumns,
} from './columns.ts';
import {
  validateAttachment,
  validateAttributesClass,
  validateCsiNode,
  validateDriver,
  validateStorageCapacity,
  validateStorageClass,
} from './storage-validation.ts';
import {
  driverWarnings,
  storageCapacityWarnings,
  storageClassWarnings,
} from './storage-warnings.ts';

export const storageKinds: readonly Kind[] = [
  {
    name: 'storage/CSIDriver',
    columns: driverColumns,
    validate: validateDriver,
    warnings: driverWarnings,
    strategy: { answersDeletedObject: true, generation: { only: 'update' } },
  },
  {
    name: 'storage/CSINode',
    columns: csiNodeColumns,
    strategy: { answersDeletedObject: true },
    validate: validateCsiNode,
  },
  {
    name: 'storage/CSIStorageCapacity',
    validate: validateStorageCapacity,
    warnings: storageCapacityWarnings,
  },
  {
    name: 'storage/StorageClass',
    columns: storageClassColumns,
    strategy: { answersDeletedObject: true },
    validate: validateStorageClass,
    warnings: storageClassWarnings,
  },
  {
    name: 'storage/VolumeAttachment',
    columns: attachmentColumns,
    strategy: { answersDeletedObject: true },
    validate: validateAttachment,
  },
  {
    name: 'storage/VolumeAttributesClass',
    columns: attributesClassColumns,
    strategy: { answersDeletedObject: true },
    validate: validateAttributesClass,
  },
];
