// Declarative validation: walks an object along its TypeInfo and applies the rules beside its
// fields, or those of its schema (open-validation.ts). Compiled once per type and stage; types
// without rules below them are not walked.
import type { FieldError } from '../base/status.ts';
import { compileChoices } from './choice-rules.ts';
import type { Choice } from './choice-rules.ts';
import { FieldErrors } from './field-errors.ts';
import { allTerms, compileTerms, reportedNameOf } from './field-rules.ts';
import type { FieldCheck, Run, RuleStage, Value } from './field-rules.ts';
import { sameJson } from './json-equal.ts';
import { isObject } from './json-value.ts';
import { openErrors } from './open-validation.ts';
import { isAbsent } from './presence.ts';
import { Twins } from './twins.ts';
import type { FieldInfo, JsonObject, JsonValue, TypeInfo } from './type-info.ts';
import { compileUnions } from './union-rules.ts';
import type { ObjectCheck } from './union-rules.ts';

export interface ValidateOptions {
  readonly stage: RuleStage;
  readonly isOn: (gate: string) => boolean;
}

/** Walks one object; undefined: no rule at or below this type. */
type Walk = (object: JsonObject, old: JsonObject | undefined, path: string, run: Run) => void;

interface Compiled {
  readonly plain: Walk | undefined;
  readonly migrated: Walk | undefined;
}
const compiledTypes = new WeakMap<TypeInfo, Compiled>();

/** All failures of the rules of one stage; `old` is undefined on create. */
export function validateDeclared(
  object: Readonly<JsonObject>,
  old: Readonly<JsonObject> | undefined,
  type: TypeInfo,
  options: ValidateOptions,
): FieldError[] {
  const walk = compiledOf(type)[options.stage];
  if (walk === undefined) return [];
  const errors = new FieldErrors();
  const { stage, isOn } = options;
  walk(object, old, '', { errors, isUpdate: old !== undefined, isOn, stage });
  return errors.list;
}

/** The type has rules that also stand in a strategy. */
export const hasMigratedRules = (type: TypeInfo): boolean =>
  compiledOf(type).migrated !== undefined;

function compiledOf(type: TypeInfo): Compiled {
  let compiled = compiledTypes.get(type);
  if (compiled === undefined) {
    compiled = { plain: compile(type, 'plain'), migrated: compile(type, 'migrated') };
    compiledTypes.set(type, compiled);
  }
  return compiled;
}

function compile(type: TypeInfo, stage: RuleStage): Walk | undefined {
  if (type.open !== undefined) return stage === 'plain' ? openWalk(type) : undefined;
  const reaching = typesWithRules(type, stage);
  const walks = new Map<TypeInfo, Walk>();
  const walkOf = (of: TypeInfo): Walk | undefined => {
    if (!reaching.has(of)) return undefined;
    const known = walks.get(of);
    if (known !== undefined) return known;
    // Recursive types call the walk that is being made.
    let made: Walk = () => undefined;
    walks.set(of, (object, old, path, run) => {
      made(object, old, path, run);
    });
    made = compileWalk(of, stage, walkOf);
    walks.set(of, made);
    return made;
  };
  return walkOf(type);
}

function openWalk(type: TypeInfo): Walk {
  return (object, old, _path, { errors }) => {
    errors.add(openErrors(object, old, type));
  };
}

/** Types from which a rule can be reached, metadata of objects left out: meta.ts validates it. */
function typesWithRules(root: TypeInfo, stage: RuleStage): ReadonlySet<TypeInfo> {
  const all = new Set<TypeInfo>();
  const visit = (type: TypeInfo): void => {
    if (all.has(type)) return;
    all.add(type);
    for (const field of type.fields) if (isWalked(field)) visit(field.message);
  };
  visit(root);
  const found = new Set([...all].filter((type) => hasOwnRules(type, stage)));
  for (let grown = true; grown;) {
    grown = false;
    for (const type of all) {
      if (found.has(type)) continue;
      if (!type.fields.some((field) => isWalked(field) && found.has(field.message))) continue;
      found.add(type);
      grown = true;
    }
  }
  return found;
}

const isWalked = (field: FieldInfo): field is FieldInfo & { readonly message: TypeInfo } =>
  field.message !== undefined &&
  field.message.special === undefined &&
  field.jsonName !== '-' &&
  field.message.id !== 'meta/v1.ObjectMeta' &&
  field.message.id !== 'meta/v1.ListMeta';

const hasOwnRules = (type: TypeInfo, stage: RuleStage): boolean =>
  compileUnions(type, stage).length > 0 ||
  (stage === 'plain' && compileChoices(type).length > 0) ||
  type.fields.some((field) => allTerms(field.options).some((term) => term.stage === stage));

interface FieldStep {
  readonly name: string;
  /** Of failures: ends the path; '' where it is the holder's. */
  readonly reportedAs: string;
  readonly field: FieldInfo;
  readonly check: FieldCheck | undefined;
  readonly walk: Walk | undefined;
  /** Nothing is to be said of a field that is absent and was. */
  readonly isSilentOnAbsent: boolean;
}

function compileWalk(
  type: TypeInfo,
  stage: RuleStage,
  walkOf: (type: TypeInfo) => Walk | undefined,
): Walk {
  const steps: FieldStep[] = [];
  const choices: Choice[] = [];
  const addSteps = (of: TypeInfo): readonly ObjectCheck[] => {
    const inner: ObjectCheck[] = [];
    if (stage === 'plain') choices.push(...compileChoices(of));
    for (const field of of.fields) {
      if (field.jsonName === '-') continue;
      if (field.jsonName === '') {
        if (field.message !== undefined) inner.push(...addSteps(field.message));
        continue;
      }
      const where = `${of.id}.${field.jsonName}`;
      const check = compileTerms(field, stage, where);
      const walk = isWalked(field) ? walkOf(field.message) : undefined;
      if (check === undefined && walk === undefined) continue;
      const { jsonName: name } = field;
      steps.push({
        name,
        reportedAs: reportedNameOf(field) ?? name,
        field,
        check,
        walk,
        isSilentOnAbsent: check === undefined || isSilentOnAbsent(check, stage),
      });
    }
    return [...compileUnions(of, stage), ...inner];
  };
  const unions = addSteps(type);
  return (object, old, path, run) => {
    for (const union of unions) union(object, old, path, run);
    let refused: readonly string[] = noNames;
    for (const choice of choices) {
      const names = choice(object, old, path, run);
      if (names.length > 0) refused = [...refused, ...names];
    }
    for (const step of steps) {
      const value = object[step.name];
      const before = old === undefined ? undefined : old[step.name];
      if (value === undefined && before === undefined && step.isSilentOnAbsent) continue;
      if (refused.length > 0 && refused.includes(step.name)) continue;
      const at = pathOf(path, step.reportedAs);
      const isRight = step.check?.(value, before, at, run) ?? true;
      if (!isRight && stage === 'migrated') continue; // as its description says
      if (step.walk !== undefined && !isAbsent(value)) {
        // Whole parts that are stored just so are not walked.
        if (path === '' && run.isUpdate && sameJson(value, before)) continue;
        walkField(step.field, step.walk, value, before, at, run);
      }
    }
  };
}

/**
 * Whether a check says nothing of a field that is absent and was: most fields of most objects are.
 * It is asked with all gates on and with all off, since each of its terms has one at most.
 */
function isSilentOnAbsent(check: FieldCheck, stage: RuleStage): boolean {
  return [true, false].every((isUpdate) =>
    [true, false].every((gate) => {
      const errors = new FieldErrors();
      const isRight = check(undefined, undefined, '', {
        errors,
        isUpdate,
        isOn: () => gate,
        stage,
      });
      return isRight && errors.list.length === 0;
    }),
  );
}

const noNames: readonly string[] = [];

function pathOf(path: string, name: string): string {
  if (path === '') return name;
  return name === '' ? path : `${path}.${name}`;
}

function walkField(
  field: FieldInfo,
  walk: Walk,
  value: JsonValue,
  old: Value,
  path: string,
  run: Run,
): void {
  if (field.cardinality === 'single') {
    if (isObject(value)) walk(value, isObject(old) ? old : undefined, path, forTwin(run, old));
    return;
  }
  if (field.cardinality === 'map') {
    if (!isObject(value)) return;
    for (const key of Object.keys(value)) {
      const element = value[key];
      const twin = isObject(old) && Object.hasOwn(old, key) ? old[key] : undefined;
      if (!isObject(element)) continue;
      walk(element, isObject(twin) ? twin : undefined, `${path}[${key}]`, forTwin(run, twin));
    }
    return;
  }
  if (!Array.isArray(value)) return;
  const hasIndex = reportedNameOf(field) === undefined;
  const twinOf = run.isUpdate && Array.isArray(old) ? twinsIn(old, field) : undefined;
  for (let at = 0; at < value.length; at += 1) {
    const element = value[at];
    if (!isObject(element)) continue;
    const twin = twinOf?.(element, at);
    walk(element, twin, hasIndex ? `${path}[${String(at)}]` : path, forTwin(run, twin));
  }
}

/** Below a value that was not there, everything is new. */
const forTwin = (run: Run, old: Value): Run =>
  run.isUpdate && isAbsent(old) ? { ...run, isUpdate: false } : run;

/** Of longer lists the elements are found by their keys, not by looking at each. */
const scannedLengthMax = 8;

/** Finds the stored element that one continues: by the list's keys, else by position. */
function twinsIn(
  old: readonly JsonValue[],
  { listMapKeys: keys }: FieldInfo,
): (element: JsonObject, at: number) => JsonObject | undefined {
  if (keys.length === 0) {
    return (_element, at) => {
      const same = old[at];
      return isObject(same) ? same : undefined;
    };
  }
  if (old.length <= scannedLengthMax) {
    return (element) => {
      const isSame = (one: JsonObject): boolean =>
        keys.every((key) => (one[key] ?? '') === (element[key] ?? ''));
      return old.find((one): one is JsonObject => isObject(one) && isSame(one));
    };
  }
  const identityOf = (element: JsonObject): string =>
    keys.map((key) => JSON.stringify(element[key] ?? '')).join();
  const twins = new Twins(old.filter(isObject), identityOf);
  return (element) => twins.of(element);
}
