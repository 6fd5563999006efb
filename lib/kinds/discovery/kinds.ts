// The kinds of discovery: one record each.
import type { Kind } from '../kind.ts';
import { endpointSliceColumns } from './columns.ts';
import { endpointSliceConversions } from './conversion.ts';
import { validateEndpointSlice } from './slice-validation.ts';
import { endpointSliceWarnings } from './slice-warnings.ts';

export const discoveryKinds: readonly Kind[] = [
  {
    name: 'discovery/EndpointSlice',
    columns: endpointSliceColumns,
    conversions: endpointSliceConversions,
    strategy: { generation: { metadata: ['labels'], countsDropped: true } },
    validate: validateEndpointSlice,
    warnings: endpointSliceWarnings,
  },
];
