// Rules over several fields of one object: exactly one of a group, at most one, members that a
// discriminator asks for, and list elements of which one may exist.
import { childPath } from './field-errors.ts';
import { isUnset, isZero } from './presence.ts';
import type { JsonObject, JsonValue, FieldInfo, TypeInfo } from './type-info.ts';
import type { Run, RuleStage } from './field-rules.ts';

export type ObjectCheck = (
  object: JsonObject,
  old: JsonObject | undefined,
  path: string,
  run: Run,
) => void;

const stringsOf = (options: Readonly<Record<string, unknown>>, name: string): readonly string[] => {
  const value = options[name];
  return Array.isArray(value) ? (value as string[]) : [];
};

interface Group {
  readonly kind: 'oneOf' | 'zeroOrOneOf';
  readonly members: Member[];
}

interface Member {
  readonly name: string;
  readonly isSet: (value: JsonValue | undefined) => boolean;
}

/**
 * Rules that exist by hand, too, take the zero value of a scalar for none, whether presence is
 * tracked or not; `unionMember` alone goes by presence.
 */
function memberOf(field: FieldInfo, text: string, stage: RuleStage): Member {
  const isZeroNone = field.message === undefined && (text !== 'unionMember' || stage !== 'plain');
  return {
    name: field.jsonName,
    isSet: isZeroNone ? (value) => !isZero(value) : (value) => !isUnset(field, value),
  };
}

/** Every union of a type in one stage. */
export function compileUnions(type: TypeInfo, stage: RuleStage): readonly ObjectCheck[] {
  const groups = new Map<string, Group>();
  const checks: ObjectCheck[] = [];
  for (const field of type.fields) {
    for (const text of unionTexts(field, stage)) {
      const [kind = '', name = ''] = text.split('=');
      const isTold = type.fieldByJsonName.has(name.charAt(0).toLowerCase() + name.slice(1));
      if (isTold && name !== '') continue; // A discriminator decides, not presence.
      const group = groups.get(text) ?? { kind: kindOf(kind), members: [] };
      group.members.push(memberOf(field, text, stage));
      groups.set(text, group);
    }
    checks.push(...memberChecks(field, type, stage), ...itemChecks(field, stage));
  }
  return [...[...groups.values()].map(groupCheck), ...checks];
}

const kindOf = (text: string): Group['kind'] => (text === 'zeroOrOneOf' ? text : 'oneOf');

/** A member's mark alone allows at most one of a group; a check requires one. */
function unionTexts(field: FieldInfo, stage: RuleStage): readonly string[] {
  const rules = stringsOf(field.options, 'rule');
  if (stage === 'migrated') return rules.filter((rule) => rule === 'unionMember');
  const checks = stringsOf(field.options, 'check');
  const marks = stringsOf(field.options, 'member')
    .map((mark) => mark.replace(/^oneOf=/, 'zeroOrOneOf='))
    .filter((mark) => !checks.includes(mark.replace(/^zeroOrOneOf=/, 'oneOf=')))
    .concat(checks);
  return [
    ...marks.filter((mark) => /^(oneOf|zeroOrOneOf)=/.test(mark)),
    ...rules.flatMap((rule) => (/^alpha\([\d.]+\):unionMember$/.test(rule) ? ['unionMember'] : [])),
  ];
}

function groupCheck({ kind, members }: Group): ObjectCheck {
  const names = members.map(({ name }) => `\`${name}\``).join(', ');
  const setIn = (object: JsonObject): readonly string[] =>
    members.flatMap(({ name, isSet }) => (isSet(object[name]) ? [name] : []));
  return (object, old, path, run) => {
    let count = 0;
    for (const { name, isSet } of members) if (isSet(object[name])) count += 1;
    if (count === 1 || (count === 0 && kind === 'zeroOrOneOf')) return;
    const set = setIn(object);
    if (run.isUpdate && old !== undefined) {
      const before = setIn(old);
      if (before.length === set.length && before.every((name) => set.includes(name))) return;
    }
    const shown = set.length === 0 ? '' : `{${set.join(', ')}}`;
    const detail =
      set.length === 0 ? `must specify one of: ${names}` : `must specify exactly one of: ${names}`;
    run.errors.invalid(path, shown, detail);
  };
}

/** `member("Queue"):required`: what the discriminator's value asks of this field. */
function memberChecks(field: FieldInfo, type: TypeInfo, stage: RuleStage): readonly ObjectCheck[] {
  const discriminator = type.fields.find((one) =>
    stringsOf(one.options, 'rule').some((rule) => rule.endsWith('discriminator')),
  );
  return stringsOf(field.options, 'rule').flatMap((rule): ObjectCheck[] => {
    const match = /^(alpha\([\d.]+\):)?member\("(\w+)"\):(required|forbidden)$/.exec(rule);
    if (match === null || discriminator === undefined) return [];
    if ((match[1] === undefined) !== (stage === 'migrated')) return [];
    const value = match[2] ?? '';
    const isRequired = match[3] === 'required';
    return [
      (object, _old, path, run) => {
        if (object[discriminator.jsonName] !== value) return;
        if (isUnset(field, object[field.jsonName]) !== isRequired) return;
        const at = childPath(path, field.jsonName);
        const what = `when \`${discriminator.jsonName}\` is "${value}"`;
        if (isRequired) run.errors.required(at, `must be specified ${what}`);
        else run.errors.forbidden(at, `must not be specified ${what}`);
      },
    ];
  });
}

/** `item(type: "Approved"):zeroOrOneOfMember`: elements of which one may be in the list. */
function itemChecks(field: FieldInfo, stage: RuleStage): readonly ObjectCheck[] {
  if (stage === 'migrated') return [];
  const pattern = /item\((\w+): "(\w+)"\):zeroOrOneOfMember$/;
  const found = stringsOf(field.options, 'rule').flatMap((rule) => {
    const match = pattern.exec(rule);
    return match === null ? [] : [{ key: match[1] ?? '', value: match[2] ?? '' }];
  });
  if (found.length < 2) return [];
  return [
    (object, _old, path, run) => {
      const value = object[field.jsonName];
      const list = Array.isArray(value) ? value : [];
      const has = (item: { key: string; value: string }): boolean =>
        list.some((one) => (one as JsonObject | null)?.[item.key] === item.value);
      const set = found.filter(has);
      if (set.length < 2) return;
      const at = childPath(path, field.jsonName);
      const names = set.map((item) => item.value).join(', ');
      run.errors.invalid(at, `{${names}}`, `must specify at most one of: ${names}`);
    },
  ];
}
