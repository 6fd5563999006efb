// What the writer of an object is warned of, by the plural name of its resource. For suites.
import type { JsonObject } from '../../api/type-info.ts';
import { kindStrategies } from '../built-in-kinds.ts';
import type { WriteContext } from '../strategy.ts';
import { profile, scheme } from './shown-cells.ts';

const context: WriteContext = {
  user: { name: 'tester', uid: '', groups: [], extra: {} },
  dryRun: false,
  fieldManager: '',
  subresource: '',
  warnings: [],
  nowMs: 0,
  apiVersion: 'v1',
};
const strategyOf = kindStrategies({ naming: profile, eventTtlSeconds: 1 });

export function warningsOf(
  resource: string,
  object: JsonObject,
  old?: JsonObject,
  subresource = '',
): readonly string[] {
  const info = scheme.resources.find((one) => one.resource === resource);
  if (info === undefined) throw new Error(`${resource} is not known`);
  return strategyOf(info).warnings?.(object, old, { ...context, subresource }) ?? [];
}
