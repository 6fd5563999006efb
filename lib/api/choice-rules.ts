// Members of an object of which it has one, such as the sources of a volume: the first that is set,
// in the order of their ranks, is the choice. Each further one is refused, and its own rules are
// not asked.
import { childPath } from './field-errors.ts';
import type { Run } from './field-rules.ts';
import { isUnset } from './presence.ts';
import type { FieldInfo, JsonObject, TypeInfo } from './type-info.ts';

/** @returns names of the refused members. */
export type Choice = (
  object: JsonObject,
  old: JsonObject | undefined,
  path: string,
  run: Run,
) => readonly string[];

interface Member {
  readonly field: FieldInfo;
  readonly rank: number;
  /** '': never. */
  readonly refusedAs: string;
}

/**
 * `source=NOUN:RANK:NAME`; RANK: else the order of the fields; NAME: in the path where it is
 * refused, else the field's; `.`: the holder's path; empty: it never is.
 */
const pattern = /^source=(\w+)(?::(\d+))?(?::(\w*|\.))?$/;

export function compileChoices(type: TypeInfo): readonly Choice[] {
  const groups = new Map<string, Member[]>();
  for (const [at, field] of type.fields.entries()) {
    const checks = (field.options['check'] ?? []) as readonly string[];
    for (const text of checks) {
      const match = pattern.exec(text);
      if (match === null) continue;
      const [, noun = '', rank = at, refusedAs = field.jsonName] = match;
      const members = groups.get(noun) ?? [];
      members.push({ field, rank: Number(rank), refusedAs });
      groups.set(noun, members);
    }
  }
  return [...groups].map(([noun, members]) =>
    choiceOf(
      noun,
      members.sort((one, other) => one.rank - other.rank),
    ),
  );
}

const none: readonly string[] = [];

interface Texts {
  readonly none: string;
  readonly several: string;
}

const oneVolume = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
/** Of choices that are no types of something. */
const ownTexts: ReadonlyMap<string, Texts> = new Map([
  ['attachedVolume', { none: oneVolume, several: oneVolume }],
]);

const textsOf = (noun: string): Texts =>
  ownTexts.get(noun) ?? {
    none: `must specify a ${noun} type`,
    several: `may not specify more than 1 ${noun} type`,
  };

function choiceOf(noun: string, members: readonly Member[]): Choice {
  const texts = textsOf(noun);
  const isSet = ({ field }: Member, object: JsonObject): boolean =>
    !isUnset(field, object[field.jsonName]);
  const byName = new Map(members.map((member) => [member.field.jsonName, member]));
  return (object, old, path, run) => {
    let count = 0;
    // There are many to choose from, and an object has few members.
    for (const name in object) {
      const member = byName.get(name);
      if (member !== undefined && isSet(member, object)) count += 1;
    }
    if (count === 1) return none;
    const set = members.filter((member) => isSet(member, object));
    const refused = set.slice(1).filter(({ refusedAs }) => refusedAs !== '');
    const isStored =
      run.isUpdate &&
      old !== undefined &&
      members.every((member) => isSet(member, old) === set.includes(member));
    if (!isStored) {
      if (count === 0) run.errors.required(path, texts.none);
      for (const { refusedAs } of refused) {
        run.errors.forbidden(refusedAs === '.' ? path : childPath(path, refusedAs), texts.several);
      }
    }
    return refused.map(({ field }) => field.jsonName);
  };
}
