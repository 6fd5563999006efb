// Deployments: annotations count as part of what is wanted, and one of them must be a number.
import type { ResourceStrategy } from '../strategy.ts';
import { fieldAnnotation, rollbackRevision } from './field-annotations.ts';

export const deploymentStrategy: ResourceStrategy = {
  generation: { metadata: ['annotations'] },
  prepare(object) {
    if (object.metadata?.annotations?.[rollbackRevision] === '') return;
    fieldAnnotation(object, rollbackRevision);
  },
};
