// What is left to do with canonical JSON that was parsed: its maps of users' names become records.
// Of most types that is all; walking over every other member would only find it as it should be.
import { isObject } from '../api/json-value.ts';
import { newRecord } from '../api/record.ts';
import type { FieldInfo, JsonObject, SpecialForm, TypeInfo } from '../api/type-info.ts';

/** The members of a message that are maps, and those below which there are some. */
export interface RecordPlan {
  readonly maps: string[];
  readonly below: { readonly name: string; readonly plan: RecordPlan }[];
}

/** Forms whose values are not what JSON.parse makes of them. */
const otherForms: ReadonlySet<SpecialForm> = new Set([
  'rawExtension',
  'json',
  'schemaOrList',
  'schemaOrBool',
  'schemaOrStrings',
]);

const plans = new WeakMap<TypeInfo, RecordPlan | typeof walked>();
/** Types whose objects hold more, and those that hold themselves. */
const walked = Symbol('walked');

/** undefined: objects of the type hold more than records and what JSON.parse makes. */
export function recordPlanOf(type: TypeInfo): RecordPlan | undefined {
  let plan = plans.get(type);
  if (plan === undefined) {
    plans.set(type, walked); // Before its fields: it may hold itself.
    plans.set(type, (plan = makePlan(type)));
  }
  return plan === walked ? undefined : plan;
}

function makePlan({ open, special, fields }: TypeInfo): RecordPlan | typeof walked {
  if (special !== undefined) return otherForms.has(special) ? walked : { maps: [], below: [] };
  const plan: RecordPlan = { maps: [], below: [] };
  return open === undefined && fields.every((field) => add(plan, field)) ? plan : walked;
}

/** False: the field holds something else. */
function add({ maps, below }: RecordPlan, field: FieldInfo): boolean {
  const { jsonName: name, cardinality, scalar, message } = field;
  if (name === '-') return true;
  if (cardinality === 'map') maps.push(name);
  // A large number without a fraction is parsed as an integer.
  if (scalar !== undefined) return scalar !== 'double';
  const plan = message === undefined ? undefined : recordPlanOf(message);
  if (message === undefined || plan === undefined) return false;
  if (plan.maps.length === 0 && plan.below.length === 0) return true;
  if (cardinality === 'map' || message.isNamedList) return false;
  if (name === '') {
    maps.push(...plan.maps);
    below.push(...plan.below);
  } else below.push({ name, plan });
  return true;
}

/** Makes records of the maps in `object`, which is changed. */
export function makeRecords(object: JsonObject, { maps, below }: RecordPlan): void {
  for (const name of maps) {
    const map = object[name];
    if (isObject(map)) object[name] = recordOf(map);
  }
  for (const { name, plan } of below) {
    const value = object[name];
    if (Array.isArray(value)) {
      for (const element of value) if (isObject(element)) makeRecords(element, plan);
    } else if (isObject(value)) makeRecords(value, plan);
  }
}

function recordOf(map: Readonly<JsonObject>): JsonObject {
  const record = newRecord();
  for (const name in map) record[name] = map[name];
  return record;
}
