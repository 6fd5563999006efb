// Mutations that are written as apply configurations: merged into the object by its schema. What is
// not stated stays, and nothing is ever removed; wholes (atomic lists, maps, structs) cannot be
// stated, for they would lose what the configuration does not say. Ownership is not tracked.
import { without } from '../../api/json-value.ts';
import type { JsonValue, TypeInfo } from '../../api/type-info.ts';
import { UnidentifiedElement, elementShape, uniqueByIdentity } from '../../apply/elements.ts';
import { elementsOf, memberShape, membersOf } from '../../apply/members.ts';
import { mergeApplied } from '../../apply/merge-applied.ts';
import { elementText, fieldElement } from '../../apply/path-element.ts';
import { shapeOf } from '../../apply/shape.ts';
import type { KeyedShape, ObjectShape, Shape } from '../../apply/shape.ts';
import { StatusError } from '../../base/status.ts';
import type { Value } from '../../cel/model/value.ts';
import { mutationProblem } from '../../cel/use/mutation-types.ts';
import { NotJson, writtenJson } from '../../cel/use/written-json.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { readObject } from '../../codec/normalise.ts';
import { MutationFailure } from './mutation-result.ts';
import type { Mutated } from './mutation-result.ts';

/**
 * `value` is what the expression came to, of the type Object; `type` is that of `live`.
 * @param base as `readObject` takes it
 */
export function applyConfiguration(
  live: Readonly<ApiObject>,
  value: Value,
  type: TypeInfo,
  base?: Readonly<ApiObject>,
): Mutated {
  const problem = mutationProblem(value);
  if (problem !== undefined) return new MutationFailure(problem);
  const failed = (why: string): Mutated => new MutationFailure(`error applying patch: ${why}`);
  try {
    const written = membersOf(writtenJson(value));
    if (written === undefined) return failed('it is no object');
    // The kind is the object's, whatever the configuration says.
    const stated = without(written, 'apiVersion', 'kind');
    const shape = shapeOf(type);
    const found = new Findings();
    found.visit(stated, shape, '', '');
    const why = found.text();
    if (why !== undefined) return failed(why);
    const merged = mergeApplied(live, stated, shape);
    if (merged === live || merged === undefined) return live;
    return readObject(merged, type, base).object;
  } catch (error) {
    if (error instanceof NotJson || error instanceof StatusError) return failed(error.message);
    if (error instanceof UnidentifiedElement) return failed(`${notTyped}: ${error.message}`);
    throw error;
  }
}

const notTyped = 'failed to convert patch object to typed object';

/** What a configuration may not state, by the schema. */
class Findings {
  /** Paths with the keys of elements, as people read them, and what is wrong there. */
  readonly #untyped: string[] = [];
  /** Paths with the places of elements. */
  readonly #wholes: string[] = [];

  visit(value: JsonValue, shape: Shape, path: string, placed: string): void {
    if (typeof value !== 'object' || value === null) return;
    switch (shape.kind) {
      case 'leaf':
      case 'set':
        if (shape.kind === 'set') this.#unique(value, shape, path);
        else this.#wholes.push(placed);
        return;
      case 'object':
        this.#members(value, shape, path, placed);
        return;
      case 'keyed':
        this.#elements(value, shape, path, placed);
        return;
      case 'open':
        if (elementsOf(value) !== undefined) this.#wholes.push(placed);
    }
  }

  text(): string | undefined {
    const [first, second] = this.#untyped;
    if (second !== undefined) {
      return [`${notTyped}: errors:`, ...this.#untyped.map((one) => `  ${one}`)].join('\n');
    }
    if (first !== undefined) return `${notTyped}: ${first}`;
    if (this.#wholes.length === 0) return undefined;
    const paths = this.#wholes.join(', ');
    return `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${paths}`;
  }

  /** The entries of a map are stated one by one, each as a whole. */
  #members(value: JsonValue, shape: ObjectShape, path: string, placed: string): void {
    const members = membersOf(value);
    for (const name in members) {
      const member = members[name];
      if (member === undefined) continue;
      const step = elementText(fieldElement(name));
      if (memberShape(shape, name) === undefined) {
        this.#untyped.push(`${path}${step}: field not declared in schema`);
      }
      const named = shape.named.get(name);
      if (named !== undefined) this.visit(member, named, path + step, placed + step);
    }
  }

  #elements(value: JsonValue, shape: KeyedShape, path: string, placed: string): void {
    const element = elementShape(shape);
    let at = 0;
    for (const [identity, item] of this.#unique(value, shape, path)) {
      this.visit(item, element, path + elementText(identity), `${placed}[${String(at)}]`);
      at += 1;
    }
  }

  #unique(
    value: JsonValue,
    shape: Parameters<typeof uniqueByIdentity>[1],
    path: string,
  ): ReadonlyMap<string, JsonValue> {
    try {
      return uniqueByIdentity(elementsOf(value) ?? [], shape);
    } catch (error) {
      if (!(error instanceof UnidentifiedElement)) throw error;
      this.#untyped.push(`${path}${error.message}`);
      return noElements;
    }
  }
}

const noElements: ReadonlyMap<string, JsonValue> = new Map();
