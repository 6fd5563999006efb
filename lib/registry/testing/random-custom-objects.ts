// Objects of random schemas, through the reading and the rules that serve custom kinds, beside what
// naive ones make of them: values that are dropped, failures, what may stay as it is stored, and
// the same in one turn as in many.
import { loadResourceSchema } from '../../api/load-schema.ts';
import { sourceOf } from '../../api/testing/schema-types.ts';
import { compileListChecks } from '../../api/list-uniqueness.ts';
import { FailureList } from '../../api/failure-list.ts';
import { compileOpenValidation } from '../../api/open-validation.ts';
import { valueOf } from '../../api/value-info.ts';
import type { JsonObject, JsonValue, TypeInfo } from '../../api/type-info.ts';
import type { FieldError } from '../../base/status.ts';
import { Yielder } from '../../base/yielder.ts';
import { readObject } from '../../codec/normalise.ts';
import { judged, pruned, repeated, sameText } from './naive-schemas.ts';
import { randomSchema, valueFor } from './random-schemas.ts';
import type { Dice } from './random-schemas.ts';

const depth = 3;

/** Lets others run whenever it is asked. */
class EagerYielder extends Yielder {
  override isDue(): boolean {
    return true;
  }
  override yield(): Promise<void> {
    return Promise.resolve();
  }
}

/** What is wrong with the rules for the objects that the dice make; undefined: nothing. */
export async function findInCustomObjects(dice: Dice): Promise<string | undefined> {
  const schema = randomSchema(dice, depth);
  const type = loadResourceSchema({ properties: { spec: schema } }, sourceOf('Random'));
  const rules = { validate: compileOpenValidation(valueOf(type)), type, schema };
  const make = (): JsonValue => valueFor(dice, schema, depth);
  const [given, before] = [make(), make()];
  return (
    findInReading(rules, given) ??
    (await findInJudgement(rules, given, undefined)) ??
    (await findInJudgement(rules, given, before)) ??
    (await findInJudgement(rules, given, given))
  );
}

interface Rules {
  readonly validate: ReturnType<typeof compileOpenValidation>;
  readonly type: TypeInfo;
  readonly schema: JsonObject;
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? `${String(member)}n` : member,
  );

const told = (claim: string, schema: JsonObject, of: object): string =>
  `${claim}\n  schema ${show(schema)}\n  ${show(of)}`;

const readSpec = ({ type }: Rules, given: JsonValue): JsonValue =>
  readObject({ spec: given }, type).object['spec'] ?? null;

function findInReading(rules: Rules, given: JsonValue): string | undefined {
  if (given === null) return undefined;
  const { schema } = rules;
  const [found, expected] = [readSpec(rules, given), pruned(schema, given)];
  if (sameText(found) === sameText(expected)) return undefined;
  return told('dropped otherwise', schema, { given, found, expected });
}

const lineOf = ({ field, reason, detail }: FieldError): string => `${field} ${reason} ${detail}`;

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((text, at) => text === right[at]);

async function findInJudgement(
  rules: Rules,
  given: JsonValue,
  before: JsonValue | undefined,
): Promise<string | undefined> {
  const { schema, validate, type } = rules;
  const spec = readSpec(rules, given);
  const stored = before === undefined ? undefined : readSpec(rules, before);
  const object = { spec };
  const old = stored === undefined ? {} : { old: { spec: stored } };
  const found = (await validate({ value: object, ...old })).map(lineOf);
  if (before !== undefined) {
    const pace = new EagerYielder();
    const inTurns = (await validate({ value: object, ...old, pace })).map(lineOf);
    if (!isSame(inTurns, found)) return told('otherwise in turns', schema, { given, before });
  }
  const expected = [...new Set(judged(schema, spec, 'spec', stored).errors)].sort();
  if (!isSame(found.sort(), expected)) {
    return told('judged otherwise', schema, { spec, stored, found, expected });
  }
  if (given === before && found.length > 0) {
    return told('unchanged and refused', schema, { spec, found });
  }
  return findInLists(type, schema, spec);
}

async function findInLists(
  type: TypeInfo,
  schema: JsonObject,
  spec: JsonValue,
): Promise<string | undefined> {
  const errors = new FailureList();
  await compileListChecks(valueOf(type))?.({ spec }, '', { errors, pace: undefined });
  const found = errors.all().map(lineOf).sort();
  const expected = [...repeated(schema, spec, 'spec')].sort();
  if (isSame(found, expected)) return undefined;
  return told('items exclude each other otherwise', schema, { spec, found, expected });
}
