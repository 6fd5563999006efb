// Nodes: they register with their status, and what once configured them from afar is gone.
import { recordAt } from '../../api/json-access.ts';
import type { ResourceStrategy } from '../strategy.ts';

export const nodeStrategy: ResourceStrategy = {
  keepsStatusOnCreate: true,
  prepare(node) {
    const spec = recordAt(node, 'spec');
    if (spec !== undefined) delete spec['configSource'];
  },
};
