// Rules of object metadata, all errors at once, in Kubernetes' words; names from generateName.
// Pure: what the server fills in itself (uid, times, generation) is the registry's business.
import { randomInt } from 'node:crypto';
import { limits } from '../base/limits.ts';
import type { FieldError } from '../base/status.ts';
import type { FieldErrorReason } from '../base/status-reasons.ts';
import { asRecord, asText, isSet, listAt, recordAt, textAt } from './json-access.ts';
import {
  dns1123LabelProblems,
  labelValueProblems,
  nameProblems,
  qualifiedNameProblems,
} from './name-rules.ts';
import type { JsonObject, JsonValue, NameRule } from './type-info.ts';
import type { NamingProfile } from './vendor.ts';

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  readonly nameRule: NameRule;
  readonly profile: NamingProfile;
  /** Finalizers need be neither standard nor qualified by a domain. */
  readonly takesUnqualifiedFinalizers?: boolean;
  /** The whole object, for names that its fields decide. */
  readonly object?: Readonly<JsonObject>;
}

type FinalizerRules = Pick<ObjectMetaRules, 'profile' | 'takesUnqualifiedFinalizers'>;

type Meta = Readonly<JsonObject>;

const fieldManagerLengthMax = 128;
const subresourceLengthMax = 256;
const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const generatedPrefixMax = 63 - suffixLength;

/** The prefix, cut to 58 characters, and five random letters. */
export function newName(prefix: string): string {
  let name = prefix.slice(0, generatedPrefixMax);
  for (let count = 0; count < suffixLength; count += 1)
    name += suffixLetters[randomInt(suffixLetters.length)] ?? '';
  return name;
}

class Errors {
  readonly list: FieldError[] = [];

  add(reason: FieldErrorReason, field: string, badValue: unknown, detail: string): void {
    this.list.push(
      badValue === undefined ? { reason, field, detail } : { reason, field, badValue, detail },
    );
  }

  /** One `Invalid` per problem. */
  invalid(field: string, badValue: unknown, problems: readonly string[]): void {
    for (const problem of problems) this.add('FieldValueInvalid', field, badValue, problem);
  }
}

/** Metadata of a new object, its name already made if it was to be generated. */
export function validateObjectMeta(
  meta: Meta,
  rules: ObjectMetaRules,
  fieldPath = 'metadata',
): FieldError[] {
  const errors = new Errors();
  const at = (name: string): string => `${fieldPath}.${name}`;
  const of = rules.object === undefined ? {} : { object: rules.object };
  const prefix = textAt(meta, 'generateName');
  const name = textAt(meta, 'name');
  if (prefix !== '') {
    errors.invalid(
      at('generateName'),
      prefix,
      nameProblems(rules.nameRule, prefix, { ...of, isPrefix: true }),
    );
  }
  if (name === '')
    errors.add('FieldValueRequired', at('name'), undefined, 'name or generateName is required');
  else
    errors.invalid(
      at('name'),
      name,
      nameProblems(rules.nameRule, name, { ...of, isPrefix: false }),
    );
  const namespace = textAt(meta, 'namespace');
  if (!rules.namespaced) {
    if (namespace !== '')
      errors.add('FieldValueForbidden', at('namespace'), undefined, 'not allowed on this type');
  } else if (namespace === '') errors.add('FieldValueRequired', at('namespace'), undefined, '');
  else errors.invalid(at('namespace'), namespace, dns1123LabelProblems(namespace));
  validateContents(meta, rules, at, errors);
  return errors.list;
}

/**
 * Metadata of an update against what is stored: what must stay, and the rules of what may
 * change.
 */
export function validateObjectMetaUpdate(
  meta: Meta,
  old: Meta,
  rules: FinalizerRules,
  fieldPath = 'metadata',
): FieldError[] {
  const errors = new Errors();
  const at = (name: string): string => `${fieldPath}.${name}`;
  if (isSet(old, 'deletionTimestamp')) {
    const before = new Set(listAt(old, 'finalizers'));
    const added = listAt(meta, 'finalizers').filter((one) => !before.has(one));
    if (added.length > 0) {
      const found = `[]string{${added.map((one) => JSON.stringify(one)).join(', ')}}`;
      const detail =
        'no new finalizers can be added if the object is being deleted, ' +
        `found new finalizers ${found}`;
      errors.add('FieldValueForbidden', at('finalizers'), undefined, detail);
    }
  }
  const generation = meta['generation'] ?? 0;
  if (typeof generation === 'number' && generation < Number(old['generation'] ?? 0)) {
    errors.add('FieldValueInvalid', at('generation'), generation, 'must not be decremented');
  }
  for (const name of immutableFields) {
    if ((meta[name] ?? undefined) === (old[name] ?? undefined)) continue;
    const shown = isSet(meta, name) ? meta[name] : timeFields.has(name) ? null : '';
    errors.add('FieldValueInvalid', at(name), shown, 'field is immutable');
  }
  validateContents(meta, rules, at, errors);
  return errors.list;
}

const immutableFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;
const timeFields: ReadonlySet<string> = new Set(immutableFields.slice(3));

type PathOf = (name: string) => string;

function validateContents(meta: Meta, rules: FinalizerRules, at: PathOf, errors: Errors): void {
  const generation = meta['generation'];
  if (typeof generation === 'number' && generation < 0) {
    errors.add(
      'FieldValueInvalid',
      at('generation'),
      generation,
      'must be greater than or equal to 0',
    );
  }
  validateLabels(recordAt(meta, 'labels'), at('labels'), errors);
  validateAnnotations(recordAt(meta, 'annotations'), at('annotations'), errors);
  validateOwners(listAt(meta, 'ownerReferences'), at('ownerReferences'), errors);
  validateFinalizers(listAt(meta, 'finalizers'), rules, at('finalizers'), errors);
  for (const [index, entry] of listAt(meta, 'managedFields').entries()) {
    validateManagedFields(
      asRecord(entry) ?? {},
      `${at('managedFields')}[${String(index)}]`,
      errors,
    );
  }
}

/** Labels or annotations that come by themselves. */
export function textMapErrors(
  of: 'labels' | 'annotations',
  texts: Readonly<JsonObject>,
  path: string,
): readonly FieldError[] {
  const errors = new Errors();
  if (of === 'labels') validateLabels(texts, path, errors);
  else validateAnnotations(texts, path, errors);
  return errors.list;
}

function validateLabels(
  labels: Readonly<JsonObject> | undefined,
  path: string,
  errors: Errors,
): void {
  for (const key in labels) {
    const value = labels[key];
    errors.invalid(path, key, qualifiedNameProblems(key));
    errors.invalid(path, value, labelValueProblems(asText(value)));
  }
}

function validateAnnotations(
  annotations: Readonly<JsonObject> | undefined,
  path: string,
  errors: Errors,
): void {
  for (const key in annotations) {
    errors.invalid(path, key, qualifiedNameProblems(key.toLowerCase()));
  }
  if (annotationBytes(annotations ?? {}) <= limits.annotationBytesMax) return;
  const detail = `may not be more than ${String(limits.annotationBytesMax)} bytes`;
  errors.add('FieldValueTooLong', path, undefined, detail);
}

/** What `limits.annotationBytesMax` bounds: all keys and values. */
export function annotationBytes(annotations: Readonly<JsonObject>): number {
  let sum = 0;
  for (const key in annotations) {
    sum += Buffer.byteLength(key) + Buffer.byteLength(asText(annotations[key]));
  }
  return sum;
}

function validateOwners(owners: readonly JsonValue[], path: string, errors: Errors): void {
  let controller = '';
  for (const value of owners) {
    const owner = asRecord(value) ?? {};
    const text = (name: string): string => textAt(owner, name);
    if (!hasVersion(text('apiVersion')))
      errors.invalid(`${path}.apiVersion`, text('apiVersion'), ['version must not be empty']);
    for (const name of ['kind', 'name', 'uid']) {
      if (text(name) === '') errors.invalid(`${path}.${name}`, '', ['must not be empty']);
    }
    if (text('apiVersion') === 'v1' && text('kind') === 'Event') {
      errors.invalid(path, owner, ['/v1, Kind=Event is disallowed from being an owner']);
    }
    if (owner['controller'] !== true) continue;
    const who = `${text('kind')}/${text('name')}`;
    if (controller !== '') {
      const detail =
        'Only one reference can have Controller set to true. ' +
        `Found "true" in references for ${controller} and ${who}`;
      errors.invalid(path, owners, [detail]);
    }
    controller = who;
  }
}

/** One that needs no domain. */
export const isStandardFinalizer = (finalizer: string, profile: NamingProfile): boolean =>
  ['orphan', 'foregroundDeletion', profile.namespaceFinalizer].includes(finalizer);

/** `version` or `group/version`. */
function hasVersion(apiVersion: string): boolean {
  const parts = apiVersion.split('/');
  return parts.length <= 2 && parts.at(-1) !== '';
}

function validateFinalizers(
  finalizers: readonly JsonValue[],
  { profile, takesUnqualifiedFinalizers = false }: FinalizerRules,
  path: string,
  errors: Errors,
): void {
  for (const [index, value] of finalizers.entries()) {
    const finalizer = asText(value);
    errors.invalid(path, finalizer, qualifiedNameProblems(finalizer));
    if (takesUnqualifiedFinalizers) continue;
    if (finalizer.includes('/') || isStandardFinalizer(finalizer, profile)) continue;
    errors.invalid(`${path}[${String(index)}]`, finalizer, [
      'name is neither a standard finalizer name nor is it fully qualified',
    ]);
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.invalid(path, finalizers, [
      'finalizer orphan and foregroundDeletion cannot be both set',
    ]);
  }
}

function validateManagedFields(entry: Readonly<JsonObject>, path: string, errors: Errors): void {
  const operation = textAt(entry, 'operation');
  if (operation !== 'Apply' && operation !== 'Update') {
    errors.invalid(`${path}.operation`, operation, ['must be `Apply` or `Update`']);
  }
  const fieldsType = textAt(entry, 'fieldsType');
  if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
    errors.invalid(`${path}.fieldsType`, fieldsType, ['must be `FieldsV1`']);
  }
  validateFieldManager(textAt(entry, 'manager'), `${path}.manager`, errors);
  const subresource = textAt(entry, 'subresource');
  if (subresource.length > subresourceLengthMax) {
    const detail = `may not be more than ${String(subresourceLengthMax)} bytes`;
    errors.add('FieldValueTooLong', `${path}.subresource`, undefined, detail);
  }
}

const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

function validateFieldManager(manager: string, path: string, errors: Errors): void {
  if (Buffer.byteLength(manager) > fieldManagerLengthMax) {
    errors.add(
      'FieldValueTooLong',
      path,
      undefined,
      `may not be more than ${String(fieldManagerLengthMax)} bytes`,
    );
  }
  if (unprintable.test(manager)) {
    errors.invalid(path, manager, ['should only contain printable characters']);
  }
}

/** How a client that names no field manager is called: by the first word of its User-Agent. */
export function nameOfAgent(userAgent: string): string {
  let name = '';
  for (const character of userAgent.split('/')[0] ?? '') {
    if (unprintable.test(character)) continue;
    if (Buffer.byteLength(name + character) > fieldManagerLengthMax) break;
    name += character;
  }
  return name;
}

/** The rules of `fieldManager` in the options of a write. */
export function fieldManagerErrors(manager: string, fieldPath = 'fieldManager'): FieldError[] {
  const errors = new Errors();
  validateFieldManager(manager, fieldPath, errors);
  return errors.list;
}
