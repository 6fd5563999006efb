// The kinds of apiserverinternal: one record each.
import type { Kind } from '../kind.ts';
import { storageVersionColumns } from './columns.ts';
import { validateStorageVersion } from './storage-version-validation.ts';

export const apiserverinternalKinds: readonly Kind[] = [
  {
    name: 'apiserverinternal/StorageVersion',
    columns: storageVersionColumns,
    strategy: { takesUnqualifiedFinalizers: 'onUpdate' },
    validate: validateStorageVersion,
  },
];
