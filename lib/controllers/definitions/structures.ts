// What the schemas of definitions have against them, looked at once for each of their generations.
import type { NamingProfile } from '../../api/vendor.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import { limits } from '../../base/limits.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { fieldErrorMessage } from '../../base/status.ts';
import { inTurns } from '../../base/steps.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { Condition } from '../../kinds/apiextensions/conditions.ts';
import { structuralViolationSteps } from '../../kinds/apiextensions/structural-violations.ts';
import type { StructuralViolations } from '../../kinds/apiextensions/structural-violations.ts';
import type { Holder } from '../../kinds/validator.ts';

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

  /** undefined: they are structural. Large ones take several turns of the event loop. */
  of(item: Item): MaybePromise<Condition | undefined> {
    const definition = item.object();
    const { uid = '', generation = 0 } = definition.metadata ?? {};
    const seen = this.#seen.get(item.name);
    if (seen?.uid === uid && seen.generation === generation) return seen.condition;
    return whenThere(structureCondition(definition, this.#naming), (condition) => {
      this.#seen.set(item.name, { uid, generation, condition });
      return condition;
    });
  }

  forget(name: string): void {
    this.#seen.delete(name);
  }
}

export const structureCondition = (
  definition: Holder,
  naming: NamingProfile,
): MaybePromise<Condition | undefined> =>
  whenThere(inTurns(structuralViolationSteps(definition, naming)), conditionOf);

function conditionOf({ errors, unreadable }: StructuralViolations): Condition | undefined {
  const type = 'NonStructuralSchema';
  if (unreadable !== undefined) {
    const { version, problem } = unreadable;
    const message = `failed to check validation schema for version ${version}: ${problem}`;
    return { type, status: 'Unknown', reason: 'StructuralError', message };
  }
  if (errors.length === 0) return undefined;
  const texts = errors.map((error) => `${error.field}: ${fieldErrorMessage(error)}`);
  const message = aggregateText(shortened(texts));
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
