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

export const storageKinds: readonly Kind[] = [
  {
    name: 'storage/CSIDriver',
    columns: driverColumns,
    validate: validateDriver,
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
  },
  {
    name: 'storage/StorageClass',
    columns: storageClassColumns,
    strategy: { answersDeletedObject: true },
    validate: validateStorageClass,
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
