// The kinds of autoscaling: one record each.
import type { Kind } from '../kind.ts';
import { validateAutoscaler } from './autoscaler-validation.ts';
import { autoscalerColumns, scaleColumns } from './columns.ts';
import { autoscalerConversions } from './conversion.ts';
import { autoscalerDefaults } from './defaults.ts';

export const autoscalingKinds: readonly Kind[] = [
  {
    name: 'autoscaling/HorizontalPodAutoscaler',
    columns: autoscalerColumns,
    defaults: autoscalerDefaults,
    conversions: autoscalerConversions,
    validate: validateAutoscaler,
  },
  {
    name: 'autoscaling/Scale',
    columns: scaleColumns,
  },
];
