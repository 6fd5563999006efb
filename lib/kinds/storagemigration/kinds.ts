// The kinds of storagemigration: one record each.
import type { Kind } from '../kind.ts';
import { migrationColumns } from './columns.ts';
import { validateMigration } from './migration-validation.ts';

export const storagemigrationKinds: readonly Kind[] = [
  {
    name: 'storagemigration/StorageVersionMigration',
    columns: migrationColumns,
    validate: validateMigration,
  },
];
