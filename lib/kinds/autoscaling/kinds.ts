// The kinds of autoscaling: one record each.
import type { Kind } from '../kind.ts';
import { validateAutoscaler } from './autoscaler-validation.ts';
import { autoscalerColumns, scaleColumns } from './columns.ts';
import { autoscalerConversions, autoscalerFieldAnnotations } from './conversion.ts';
import { autoscalerStrategy } from './autoscalers.ts';
import { autoscalerDefaults } from './defaults.ts';

export const autoscalingKinds: readonly Kind[] = [
  {
    name: 'autoscaling/HorizontalPodAutoscaler',
    columns: autoscalerColumns,
    defaults: autoscalerDefaults,
    conversions: autoscalerConversions,
    fieldAnnotations: autoscalerFieldAnnotations,
    strategy: ({ naming }) => autoscalerStrategy(naming),
    validate: validateAutoscaler,
    rulesByHand: true,
  },
  {
    name: 'autoscaling/Scale',
    columns: scaleColumns,
  },
];
