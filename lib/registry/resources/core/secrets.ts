// Secrets: an update that names no type keeps the stored one.
import type { ResourceStrategy } from '../../strategy.ts';

export const secretStrategy: ResourceStrategy = { keptWhenOmitted: ['type'] };
