// Nodes: they register with their status.
import type { ResourceStrategy } from '../strategy.ts';

export const nodeStrategy: ResourceStrategy = { keepsStatusOnCreate: true };
