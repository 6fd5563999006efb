// The kinds of apiregistration: one record each.
import type { Kind } from '../kind.ts';
import { validateApiService } from './api-service-validation.ts';
import { apiServiceColumns } from './columns.ts';

export const apiregistrationKinds: readonly Kind[] = [
  {
    name: 'apiregistration/APIService',
    columns: apiServiceColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateApiService,
  },
];
