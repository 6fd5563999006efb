// The kinds of apiregistration: one record each.
import type { Kind } from '../kind.ts';
import { validateApiService } from './api-service-validation.ts';
import { apiServiceStrategy } from './api-services.ts';
import { apiServiceColumns } from './columns.ts';

export const apiregistrationKinds: readonly Kind[] = [
  {
    name: 'apiregistration/APIService',
    columns: apiServiceColumns,
    strategy: apiServiceStrategy,
    validate: validateApiService,
  },
];
