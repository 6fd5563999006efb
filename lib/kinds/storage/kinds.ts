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
  validateStorageCapacity,
  validateStorageClass,
} from './storage-validation.ts';

export const storageKinds: readonly Kind[] = [
  {
    name: 'storage/CSIDriver',
    columns: driverColumns,
  },
  {
    name: 'storage/CSINode',
    columns: csiNodeColumns,
    validate: validateCsiNode,
  },
  {
    name: 'storage/CSIStorageCapacity',
    validate: validateStorageCapacity,
  },
  {
    name: 'storage/StorageClass',
    columns: storageClassColumns,
    validate: validateStorageClass,
  },
  {
    name: 'storage/VolumeAttachment',
    columns: attachmentColumns,
    validate: validateAttachment,
  },
  {
    name: 'storage/VolumeAttributesClass',
    columns: attributesClassColumns,
    validate: validateAttributesClass,
  },
];
