// What the schemas of definitions have against them, looked at once for each of their generations.
import type { NamingProfile } from '../../api/vendor.ts';
import { limits } from '../../base/limits.ts';
import { fieldErrorMessage } from '../../base/status.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { Condition } from '../../kinds/apiextensions/conditions.ts';
import { structuralViolations } from '../../kinds/apiextensions/structural-violations.ts';
import type { Holder } from '../../kinds/validator.ts';
import { aggregate } from './accepted-names.ts';

interface Seen {
  readonly uid: string;
  readonly generation: number;
  readonly condition: Condition | undefined;
}

export class Structures {
  readonly #naming: NamingProfile;
  readonly #seen = new Map<string, Seen>();

  constructor(naming: NamingProfile) {
    this.#naming = naming;
  }

  /** undefined: they are structural. */
  of(item: Item): Condition | undefined {
    const definition = item.object();
    const { uid = '', generation = 0 } = definition.metadata ?? {};
    const seen = this.#seen.get(item.name);
    if (seen?.uid === uid && seen.generation === generation) return seen.condition;
    const condition = structureCondition(definition, this.#naming);
    this.#seen.set(item.name, { uid, generation, condition });
    return condition;
  }

  forget(name: string): void {
    this.#seen.delete(name);
  }
}

export function structureCondition(
  definition: Holder,
  naming: NamingProfile,
): Condition | undefined {
  const type = 'NonStructuralSchema';
  const { errors, unreadable } = structuralViolations(definition, naming);
  if (unreadable !== undefined) {
    const { version, problem } = unreadable;
    const message = `failed to check validation schema for version ${version}: ${problem}`;
    return { type, status: 'Unknown', reason: 'StructuralError', message };
  }
  if (errors.length === 0) return undefined;
  const texts = errors.map((error) => `${error.field}: ${fieldErrorMessage(error)}`);
  const message = aggregate(shortened(texts));
  return { type, status: 'True', reason: 'Violations', message };
}

/** As many as a condition can hold: it is stored and sent with the definition. */
function shortened(texts: readonly string[]): readonly string[] {
  let left: number = limits.violationsTextLengthMax;
  const count = texts.findIndex((text) => (left -= text.length) < 0);
  if (count < 0) return texts;
  const kept = Math.max(count, 1);
  if (kept === texts.length) return texts;
  return [...texts.slice(0, kept), `and ${String(texts.length - kept)} more`];
}
