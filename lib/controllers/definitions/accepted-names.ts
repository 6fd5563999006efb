// Names of custom resource definitions that are accepted, by group: plural, singular and short
// names are one set, kinds another. Who was accepted first keeps a name.
import { recordAt, textAt, textsAt } from '../../api/json-access.ts';
import { jsonEqual } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import type { Holder } from '../../kinds/validator.ts';
import type { Condition } from '../../kinds/apiextensions/conditions.ts';
import { acceptedNamesOf, namesOf } from '../../kinds/apiextensions/definition-parts.ts';
import type { DefinitionNames } from '../../kinds/apiextensions/definition-parts.ts';

/** Which of the two sets a name is in. */
export type NameSet = 'resources' | 'kinds';
/** Whether another definition of the group has the name. */
export type IsTaken = (set: NameSet, name: string) => boolean;

/** What is accepted in all groups; asked for one definition at a time. */
export class AcceptedNames {
  /** By set, group and name: the definitions that have it. */
  readonly #holders = new Map<string, Set<string>>();
  readonly #names = new Map<string, readonly string[]>();

  /** `names`: of its status; undefined: none any more. @returns whether a name is free now. */
  set(definition: string, group: string, names: Holder): boolean {
    const before = this.#names.get(definition) ?? [];
    const after = new Set(keysOf(group, names));
    const freed = before.filter((key) => !after.has(key));
    for (const key of freed) this.#release(key, definition);
    for (const key of after) {
      const holders = this.#holders.get(key);
      if (holders === undefined) this.#holders.set(key, new Set([definition]));
      else holders.add(definition);
    }
    if (after.size === 0) this.#names.delete(definition);
    else this.#names.set(definition, [...after]);
    return freed.length > 0;
  }

  isTakenFrom(definition: string, group: string): IsTaken {
    return (set, name) => {
      const holders = this.#holders.get(keyOf(set, group, name));
      if (holders === undefined) return false;
      return holders.size > 1 || !holders.has(definition);
    };
  }

  clear(): void {
    this.#holders.clear();
    this.#names.clear();
  }

  #release(key: string, definition: string): void {
    const holders = this.#holders.get(key);
    holders?.delete(definition);
    if (holders?.size === 0) this.#holders.delete(key);
  }
}

const keyOf = (set: NameSet, group: string, name: string): string => `${set}/${group}/${name}`;

function keysOf(group: string, names: Holder): string[] {
  const resources = [textAt(names, 'plural'), textAt(names, 'singular')];
  const kinds = [textAt(names, 'kind'), textAt(names, 'listKind')];
  return [
    ...[...resources, ...textsAt(names, 'shortNames')].map((name) => ({ set: 'resources', name })),
    ...kinds.map((name) => ({ set: 'kinds', name })),
  ].flatMap(({ set, name }) => (name === '' ? [] : [keyOf(set as NameSet, group, name)]));
}

export interface NamesVerdict {
  /** For the status: what was accepted before where the wish cannot be fulfilled. */
  readonly acceptedNames: JsonObject;
  readonly condition: Condition;
}

/** Each name moves on its own, short names only together; the last conflict is reported. */
export function judgeNames(definition: Holder, isTaken: IsTaken): NamesVerdict {
  const wished = recordAt(recordAt(definition, 'spec'), 'names');
  const accepted = acceptedNamesOf(definition);
  const conflicts: { readonly reason: string; readonly message: string }[] = [];
  const single = (member: string, set: NameSet, reason: string): string => {
    const [wish, had] = [textAt(wished, member), textAt(accepted, member)];
    if (wish === had || !isTaken(set, wish)) return wish;
    conflicts.push({ reason, message: inUse(wish) });
    return had;
  };
  const plural = single('plural', 'resources', 'PluralConflict');
  const singular = single('singular', 'resources', 'SingularConflict');
  const [wishedShort, hadShort] = [textsAt(wished, 'shortNames'), textsAt(accepted, 'shortNames')];
  const kept = new Set(hadShort);
  const taken = wishedShort.filter((name) => !kept.has(name) && isTaken('resources', name));
  if (taken.length > 0) {
    conflicts.push({ reason: 'ShortNamesConflict', message: aggregateText(taken.map(inUse)) });
  }
  const shortNames = taken.length > 0 ? hadShort : wishedShort;
  const kind = single('kind', 'kinds', 'KindConflict');
  const listKind = single('listKind', 'kinds', 'ListKindConflict');
  const categories = textsAt(wished, 'categories');
  const last = conflicts.at(-1);
  return {
    acceptedNames: namesRecord({ plural, singular, shortNames, kind, listKind, categories }),
    condition:
      last === undefined
        ? {
            type: 'NamesAccepted',
            status: 'True',
            reason: 'NoConflicts',
            message: 'no conflicts found',
          }
        : { type: 'NamesAccepted', status: 'False', ...last },
  };
}

function namesRecord(names: DefinitionNames): JsonObject {
  const { plural, singular, shortNames, kind, listKind, categories } = names;
  return {
    plural,
    ...(singular === '' ? {} : { singular }),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    kind,
    ...(listKind === '' ? {} : { listKind }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
  };
}

/** Whether the status says these names already. */
export function hasNames(definition: Holder, names: JsonObject): boolean {
  return jsonEqual(namesRecord(namesOf(acceptedNamesOf(definition))), names);
}

const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`;
