// What the writer of an object is warned of, by the plural name of its resource. For suites.
import type { JsonObject } from '../../api/type-info.ts';
import { kindStrategies } from '../built-in-kinds.ts';
import { profile, scheme } from './shown-cells.ts';
import { writeContext } from './write-context.ts';

const context = writeContext();
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
