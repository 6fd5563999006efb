// What the containers of a pod take together, as exact amounts by name of resource. Who asks says
// which amounts of each container count.
import { recordAt, recordsAt } from '../../api/json-access.ts';
import { addQuantities, compareQuantities, parseQuantity } from '../../api/quantity.ts';
import type { Quantity } from '../../api/quantity.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { isHugePages } from './resource-names.ts';

export type Amounts = ReadonlyMap<string, Quantity>;
type AmountsSoFar = Map<string, Quantity>;

/** Of a resource list; what is no quantity is left out. */
export function amountsIn(list: Readonly<JsonObject> | undefined): AmountsSoFar {
  const amounts: AmountsSoFar = new Map();
  if (list === undefined) return amounts;
  for (const [name, text] of Object.entries(list)) {
    const amount = typeof text === 'string' ? parseQuantity(text) : undefined;
    if (amount !== undefined) amounts.set(name, amount);
  }
  return amounts;
}

export const statedAmounts = (container: JsonObject, part: 'limits' | 'requests'): AmountsSoFar =>
  amountsIn(recordAt(recordAt(container, 'resources'), part));

/** What a pod may state for all its containers together. */
export const isPodLevelResource = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || isHugePages(name);

/** Whether an init container runs as long as the pod does. */
export const isStaying = (initContainer: JsonObject): boolean =>
  initContainer['restartPolicy'] === 'Always';

/**
 * What runs at once: all containers with the init containers that stay, or, while the pod starts,
 * one init container with those that stay before it.
 */
export function totalOf(
  spec: Readonly<JsonObject> | undefined,
  amountsOf: (container: JsonObject) => Amounts,
): AmountsSoFar {
  const sums: AmountsSoFar = new Map();
  for (const container of recordsAt(spec, 'containers')) addAmounts(sums, amountsOf(container));
  const staying: AmountsSoFar = new Map();
  const starting: AmountsSoFar = new Map();
  for (const container of recordsAt(spec, 'initContainers')) {
    const amounts = amountsOf(container);
    if (isStaying(container)) {
      addAmounts(sums, amounts);
      addAmounts(staying, amounts);
      raiseAmounts(starting, staying);
    } else {
      const atOnce = new Map(staying);
      addAmounts(atOnce, amounts);
      raiseAmounts(starting, atOnce);
    }
  }
  raiseAmounts(sums, starting);
  return sums;
}

/** Changes `sums`. */
export function addAmounts(sums: AmountsSoFar, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const known = sums.get(name);
    sums.set(name, known === undefined ? amount : addQuantities(known, amount));
  }
}

/** Changes `highest`: of each name the larger amount. */
export function raiseAmounts(highest: AmountsSoFar, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const known = highest.get(name);
    if (known === undefined || compareQuantities(known, amount) < 0) highest.set(name, amount);
  }
}
