// Random histories of one object, written by three who apply and two who update: after each write
// the object and its owners are what the rules say (ownership-model.ts), and what must hold for any
// write does.
import { typeOf } from '../../api/testing/schema-types.ts';
import type { JsonObject, JsonValue, TypeInfo } from '../../api/type-info.ts';
import { canonicalObject } from '../../codec/normalise.ts';
import { Random } from '../../../scripts/fuzz/random.ts';
import type { FieldSet } from '../field-set.ts';
import { memberPaths } from '../field-set.ts';
import { ownerIdentity } from '../owners.ts';
import type { Owners, Writer } from '../owners.ts';
import { applyConfiguration, ownUpdate } from '../ownership.ts';
import type { Applied, ApplyWrite, Conflict } from '../ownership.ts';
import { shapeOf } from '../shape.ts';
import { flatten, modelApply, modelUpdate, pathOf, statedIn } from './ownership-model.ts';
import type { Flat, State } from './ownership-model.ts';
import { object, RandomValues } from './random-values.ts';
import { textOf } from './schemas.ts';

const apiVersion = 'example.com/v1';

export interface HistorySize {
  readonly depth: number;
  readonly writeCount: number;
}

/** undefined: all holds. */
export async function findInHistory(seed: number, size: HistorySize): Promise<string | undefined> {
  const history = new History(new Random(seed), size);
  try {
    return await history.play(size.writeCount);
  } catch (error) {
    return history.told(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/** Shares are out of a hundred. */
const ofUpdates = { absentShare: 12, freshShare: 15, nullShare: 0, twinShare: 4 };
const ofConfigurations = { absentShare: 25, freshShare: 8, nullShare: 3, twinShare: 0 };
const ofParts = { absentShare: 30, freshShare: 0, nullShare: 0, twinShare: 0 };

class History {
  readonly #random: Random;
  readonly #values: RandomValues;
  readonly #schema: JsonObject;
  readonly #type: TypeInfo;
  readonly #hasPrototypes: boolean;
  readonly #writes: string[] = [];
  #live: JsonObject;
  #owners: Owners = new Map();
  #model: State;
  #time = 0;

  constructor(random: Random, { depth }: HistorySize) {
    this.#random = random;
    this.#values = new RandomValues(random);
    this.#schema = this.#values.resourceSchema(depth);
    this.#type = typeOf(this.#schema);
    this.#hasPrototypes = random.below(2) === 0;
    this.#live = this.#canonical(identified({}));
    this.#model = { flat: this.#flatOf(this.#live), owners: new Map() };
  }

  told(what: string): string {
    const writes = this.#writes.join('\n  ');
    return `${what}\n  schema ${textOf(this.#schema)}\n  ${writes}`;
  }

  async play(writeCount: number): Promise<string | undefined> {
    for (let count = 0; count < writeCount; count += 1) {
      const finding = this.#random.below(3) === 0 ? await this.#update() : await this.#apply();
      if (finding !== undefined) return this.told(finding);
    }
    const finding = (await this.#checkOrder()) ?? (await this.#checkGivingUp());
    return finding === undefined ? undefined : this.told(finding);
  }

  #canonical(value: JsonObject): JsonObject {
    const canonical = canonicalObject(value, this.#type);
    return frozen(this.#hasPrototypes ? withPrototypes(canonical) : canonical);
  }

  #flatOf(value: JsonObject): Flat {
    return flatten(value, this.#schema);
  }

  #write(writer: Writer, owners = this.#owners): ApplyWrite {
    const shape = shapeOf(this.#type);
    const versions = {
      apiVersion,
      shapeIn: (): typeof shape => shape,
      to: (same: Readonly<JsonObject>): Readonly<JsonObject> => same,
    };
    const canonical = (value: JsonObject): JsonObject => this.#canonical(value);
    const settable = (stated: FieldSet): FieldSet => stated;
    const time = timeAt(this.#time);
    return { writer, owners, versions, settable, time, force: false, canonical };
  }

  async #update(): Promise<string | undefined> {
    const writer = writerOf(this.#random.of(['u1', 'u2']), 'Update');
    const varied = this.#values.variedObject(this.#live, this.#schema, ofUpdates);
    const after = this.#canonical(identified(varied));
    this.#time += 1;
    this.#writes.push(`${writer.manager} updates to ${textOf(after)}`);
    const write = this.#write(writer);
    const before = this.#live;
    const owners = (await ownUpdate({ before, after }, write, () => this.#owners)) ?? this.#owners;
    const flat = this.#flatOf(after);
    this.#model = modelUpdate(this.#model, flat, {
      owner: ownerIdentity(writer),
      time: write.time,
    });
    [this.#live, this.#owners] = [after, owners];
    return this.#disagreement() ?? this.#checkTaken(before, writer);
  }

  /** What an update changed belongs to the writer, and to nobody else. */
  #checkTaken(before: JsonObject, writer: Writer): string | undefined {
    const own = ownerIdentity(writer);
    const old = this.#flatOf(before);
    const now = this.#flatOf(this.#live);
    for (const [identity, { fields }] of this.#owners) {
      if (identity === own) continue;
      for (const path of pathsOf(fields)) {
        if (now.get(path)?.text !== old.get(path)?.text) return `${identity} still owns ${path}`;
      }
    }
    return undefined;
  }

  #configuration(): JsonObject {
    const varied = this.#values.variedObject(this.#live, this.#schema, ofConfigurations);
    return this.#given(identified(varied));
  }

  #given(configuration: JsonObject): JsonObject {
    return frozen(this.#hasPrototypes ? withPrototypes(configuration) : configuration);
  }

  async #apply(): Promise<string | undefined> {
    const writer = writerOf(this.#random.of(['a1', 'a2', 'a3']), 'Apply');
    const configuration = this.#configuration();
    const force = this.#random.below(2) === 0;
    this.#time += 1;
    const how = force ? 'applies by force' : 'applies';
    this.#writes.push(`${writer.manager} ${how} ${textOf(configuration)}`);
    const before = { flat: this.#model.flat, owners: this.#owners };
    const write = { ...this.#write(writer), force };
    const result = await applyConfiguration(this.#live, configuration, write);
    const isReordered = 'object' in result && textOf(result.object) !== textOf(this.#live);
    const model = modelApply(this.#model, {
      owner: ownerIdentity(writer),
      time: write.time,
      force,
      configuration,
      schema: this.#schema,
      isReordered,
    });
    if (!('object' in result)) return conflictsFinding(result, model);
    if (!('owners' in model)) return `conflicts are not seen: ${model.join()}`;
    [this.#live, this.#owners] = [frozen(result.object), result.owners];
    this.#model = model;
    return (
      this.#disagreement() ??
      this.#checkStated(before, configuration, writer) ??
      (await this.#checkTwice(configuration, writer))
    );
  }

  /** What was applied is there, and others own of it what was there already. */
  #checkStated(
    before: { readonly flat: Flat; readonly owners: Owners },
    configuration: JsonObject,
    writer: Writer,
  ): string | undefined {
    const wanted = this.#flatOf(configuration);
    const now = this.#flatOf(this.#live);
    const others = [...this.#owners].filter(([identity]) => identity !== ownerIdentity(writer));
    for (const path of statedIn(configuration, this.#schema)) {
      const node = wanted.get(path);
      if (node === undefined || node.text.includes('null')) continue;
      if (now.get(path)?.text !== node.text) return `${path} is not as it was applied`;
      const hadOther = before.flat.get(path)?.text !== node.text;
      const owner = others.find(([, { fields }]) => hadOther && pathsOf(fields).has(path));
      if (owner !== undefined) return `${owner[0]} still owns ${path}`;
    }
    return undefined;
  }

  /** Twice is once, also at a later time. */
  async #checkTwice(configuration: JsonObject, writer: Writer): Promise<string | undefined> {
    const write = { ...this.#write(writer), time: timeAt(this.#time + 1) };
    const again = await applyConfiguration(this.#live, configuration, write);
    if (!('object' in again)) return 'applied again it conflicts';
    if (again.object !== this.#live) return `applied again: ${textOf(again.object)}`;
    const [once, twice] = [ownerTexts(this.#owners), ownerTexts(again.owners)];
    return once === twice ? undefined : `applied again, owners are\n${twice}\nnot\n${once}`;
  }

  /** Two who state parts of one configuration may apply them in either order. */
  async #checkOrder(): Promise<string | undefined> {
    const by = { ...ofUpdates, twinShare: 0 };
    const whole = this.#canonical(this.#values.variedObject(this.#live, this.#schema, by));
    const [one, other] = ['b1', 'b2'].map((manager) => {
      const part = this.#values.variedObject(whole, this.#schema, ofParts);
      return { writer: writerOf(manager, 'Apply'), part: this.#given(identified(part)) };
    });
    if (one === undefined || other === undefined) return undefined;
    const [first, second] = [await this.#both(one, other), await this.#both(other, one)];
    if (first === second) return undefined;
    const parts = [one, other].map(({ part }) => textOf(part)).join('\n  ');
    return `the order of appliers matters: of\n  ${parts}\n${first}\nor\n${second}`;
  }

  async #both(...steps: readonly Step[]): Promise<string> {
    let state: Applied = { object: this.#live, owners: this.#owners };
    for (const { writer, part } of steps) {
      const write = { ...this.#write(writer, state.owners), force: true };
      const result = await applyConfiguration(state.object, part, write);
      if (!('object' in result)) return 'a conflict in spite of force';
      state = result;
    }
    return `${flatText(this.#flatOf(state.object))}\n${ownerTexts(state.owners)}`;
  }

  /** Who applies nothing any more leaves nothing that nobody else owns. */
  async #checkGivingUp(): Promise<string | undefined> {
    for (const [identity, { fields, manager, operation }] of this.#owners) {
      if (operation !== 'Apply') continue;
      const write = { ...this.#write(writerOf(manager, operation)), force: true };
      const nothing = this.#given(identified({}));
      const result = await applyConfiguration(this.#live, nothing, write);
      if (!('object' in result)) return `${manager} gives up, and conflicts`;
      if (result.owners.has(identity)) return `${manager} gives up, and owns`;
      const left = this.#flatOf(result.object);
      const owned = [...result.owners.values()].flatMap((other) => [...pathsOf(other.fields)]);
      for (const path of pathsOf(fields)) {
        const isOwned = owned.some((other) => other === path || other.startsWith(`${path}\0`));
        if (left.has(path) && !isOwned) return `${manager} gives up, and ${path} is left`;
      }
    }
    return undefined;
  }

  #disagreement(): string | undefined {
    const [flat, wanted] = [flatText(this.#flatOf(this.#live)), flatText(this.#model.flat)];
    if (flat !== wanted) {
      return `the object is\n${flat}\nnot\n${wanted}\nin full ${textOf(this.#live)}`;
    }
    const [owners, expected] = [ownerTexts(this.#owners), modelOwnerTexts(this.#model)];
    return owners === expected ? undefined : `owners are\n${owners}\nnot\n${expected}`;
  }
}

interface Step {
  readonly writer: Writer;
  readonly part: JsonObject;
}

const timeAt = (step: number): string => new Date(step * 1_000).toISOString();

const writerOf = (manager: string, operation: Writer['operation']): Writer => ({
  manager,
  operation,
  apiVersion,
  subresource: '',
});

const identified = (value: JsonObject): JsonObject =>
  object([
    ...Object.entries(value),
    ['apiVersion', apiVersion],
    ['kind', 'Thing'],
    ['metadata', { name: 'n' }],
  ]);

const pathsOf = (fields: FieldSet): Set<string> => new Set([...memberPaths(fields)].map(pathOf));

const linesOf = (lines: Iterable<string>): string => [...lines].sort().join('\n');

const flatText = (flat: Flat): string =>
  linesOf([...flat].map(([path, { text }]) => `${path} ${text}`));

function ownerTexts(owners: Owners): string {
  return linesOf(
    [...owners.values()].map((entry) => {
      const paths = [...pathsOf(entry.fields)].sort().join('  ');
      return `${ownerIdentity(entry)} ${entry.time ?? ''} ${paths}`;
    }),
  );
}

const modelOwnerTexts = ({ owners }: State): string =>
  linesOf(
    [...owners].map(
      ([owner, { fields, time }]) => `${owner} ${time} ${[...fields].sort().join('  ')}`,
    ),
  );

function conflictsFinding(
  found: readonly Conflict[],
  expected: State | readonly string[],
): string | undefined {
  const text = linesOf(found.map(({ owner, path }) => `${ownerIdentity(owner)} ${pathOf(path)}`));
  const wanted = 'owners' in expected ? 'none' : linesOf(expected);
  return text === wanted ? undefined : `conflicts are\n${text}\nnot\n${wanted}`;
}

/** Deeply: writing to it throws. */
export function frozen<T extends JsonValue>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) if (member !== undefined) frozen(member);
  return Object.freeze(value);
}

/** The same of ordinary objects, which have names that nobody gave them. */
export function withPrototypes<T extends JsonValue>(value: T): T {
  if (Array.isArray(value)) return value.map(withPrototypes) as T;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    member === undefined ? undefined : withPrototypes(member),
  ]);
  return Object.fromEntries(members) as T; // The same shape as before.
}
