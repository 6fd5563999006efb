// The kinds of node: one record each.
import type { Kind } from '../kind.ts';
import { runtimeClassColumns } from './columns.ts';
import { runtimeClassConversions } from './conversion.ts';
import { runtimeClassWarnings, validateRuntimeClass } from './runtime-class-validation.ts';

export const nodeKinds: readonly Kind[] = [
  {
    name: 'node/RuntimeClass',
    columns: runtimeClassColumns,
    conversions: runtimeClassConversions,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateRuntimeClass,
    warnings: runtimeClassWarnings,
  },
];
