// Limit ranges: one that comes without a name gets a unique one.
import { randomUUID } from 'node:crypto';
import type { ResourceStrategy } from '../strategy.ts';

export const limitRangeStrategy: ResourceStrategy = { defaultName: () => randomUUID() };
