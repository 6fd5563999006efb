// Code for comprehensions. Lists and maps that a loop collects grow in place: the loop owns them
// until it ends.
import type { Code, Frame } from './frame.ts';
import { ArrayList, CelError, isError, isList, isMap, kindOf } from '../model/value.ts';
import type { ListValue, MapValue, Value, ValueKind } from '../model/value.ts';
import { HashMap } from '../model/map-value.ts';
import { noSuchOverload } from '../model/equality.ts';
import { listItems } from '../model/value.ts';

export interface LoopPlan {
  readonly range: Code;
  readonly iterSlot: number;
  /** The slot of the second variable, where there is one. */
  readonly iterSlot2: number | undefined;
  readonly accuSlot: number;
  readonly accuInit: Code;
  /** Absent: always true. */
  readonly condition: Code | undefined;
  readonly step: Code;
  readonly result: Code;
  /** The loop has no turns: it only gives a name to the start value. */
  readonly isBinding: boolean;
}

/** A list that a loop builds: adding to it changes it. */
class GrowingList implements ListValue {
  readonly kind = 'list';
  readonly items: Value[] = [];
  size(): number {
    return this.items.length;
  }
  get(index: number): Value {
    return this.items[index] as Value;
  }
  plus(other: Value): Value {
    if (!isList(other)) return noSuchOverload(other);
    if (other instanceof ArrayList) for (const item of other.items) this.items.push(item);
    else this.items.push(...listItems(other));
    return this;
  }
}

/** Whether a map belongs to a loop that is building it. */
export class GrowingMap extends HashMap {}

export function loopCode(plan: LoopPlan): Code {
  const { accuSlot } = plan;
  return (frame) => {
    const range = plan.range(frame);
    if (!isList(range) && !isMap(range)) {
      return isError(range)
        ? range
        : new CelError(`got '${goTypeOf(range)}', expected iterable type`);
    }
    const start = plan.accuInit(frame);
    frame.slots[accuSlot] = plan.isBinding ? start : growing(start);
    if (isList(range)) runList(frame, plan, range);
    else runMap(frame, plan, range);
    const result = plan.result(frame);
    return result instanceof GrowingList ? new ArrayList(result.items) : result;
  };
}

/** Only macros can name an accumulator, so nobody else sees it change. */
function growing(value: Value): Value {
  if (isList(value) && value.size() === 0) return new GrowingList();
  if (value instanceof HashMap && value.size() === 0) return new GrowingMap();
  return value;
}

function runList(frame: Frame, plan: LoopPlan, range: ListValue): void {
  const size = range.size();
  const { iterSlot, iterSlot2 } = plan;
  for (let index = 0; index < size; index++) {
    if (iterSlot2 === undefined) {
      frame.slots[iterSlot] = range.get(index);
    } else {
      frame.slots[iterSlot] = index;
      frame.slots[iterSlot2] = range.get(index);
    }
    if (!runTurn(frame, plan)) return;
  }
}

function runMap(frame: Frame, plan: LoopPlan, range: MapValue): void {
  const { iterSlot, iterSlot2 } = plan;
  for (const key of range.keys()) {
    frame.slots[iterSlot] = key;
    if (iterSlot2 !== undefined) frame.slots[iterSlot2] = range.find(key) ?? null;
    if (!runTurn(frame, plan)) return;
  }
}

/** One turn; false: the condition ended the loop. */
function runTurn(frame: Frame, plan: LoopPlan): boolean {
  if (plan.condition?.(frame) === false) return false;
  frame.slots[plan.accuSlot] = plan.step(frame);
  frame.turn();
  return true;
}

const goTypes: Partial<Record<ValueKind, string>> = {
  bool: 'types.Bool',
  int: 'types.Int',
  uint: 'types.Uint',
  double: 'types.Double',
  string: 'types.String',
  bytes: 'types.Bytes',
  null: 'types.Null',
  timestamp: 'types.Timestamp',
  duration: 'types.Duration',
  optional: '*types.Optional',
  type: '*types.Type',
};

// Error texts name the reference implementation's own types.
function goTypeOf(value: Value): string {
  return goTypes[kindOf(value)] ?? kindOf(value);
}
