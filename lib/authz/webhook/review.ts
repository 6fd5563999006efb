// The SubjectAccessReview that a webhook is sent, and what it answers: in version v1, and in
// v1beta1, which calls the groups of a user `group`.
import { asRecord, textAt, valueAt } from '../../api/json-access.ts';
import type { LabelOperator, LabelRequirement } from '../../api/selector.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Attributes, SelectorAttribute } from '../authorizer.ts';

export type ReviewVersion = 'v1' | 'v1beta1';

export interface ReviewStatus {
  readonly allowed: boolean;
  readonly denied: boolean;
  readonly reason: string;
  /** '': nothing failed. */
  readonly evaluationError: string;
}

/** Bytes to send, and what reads the answer. */
export interface ReviewCodec {
  encode(asked: Attributes): Uint8Array;
  /** @throws Error for what is no review of the same version */
  decode(body: Uint8Array): ReviewStatus;
}

const kind = 'SubjectAccessReview';

export function reviewCodec(version: ReviewVersion, naming: NamingProfile): ReviewCodec {
  const apiVersion = naming.resolve(`authorization.{v}/${version}`);
  return {
    encode(asked) {
      const spec = reviewSpec(asked, version === 'v1' ? 'groups' : 'group');
      const review = { kind, apiVersion, metadata: {}, spec, status: { allowed: false } };
      return Buffer.from(JSON.stringify(review));
    },
    decode(body) {
      const review = asRecord(JSON.parse(Buffer.from(body).toString()) as JsonValue);
      if (review === undefined) throw new Error('no object');
      // What says nothing of itself is taken for what was asked for, as upstream does.
      if (textAt({ kind, ...review }, 'kind') !== kind) throw new Error('another kind');
      if (textAt({ apiVersion, ...review }, 'apiVersion') !== apiVersion) {
        throw new Error('another version');
      }
      return statusOf(asRecord(valueAt(review, 'status') ?? {}));
    },
  };
}

function statusOf(status: JsonObject | undefined): ReviewStatus {
  if (status === undefined) throw new Error('status is no object');
  return {
    allowed: typed(status, 'allowed', 'boolean', false),
    denied: typed(status, 'denied', 'boolean', false),
    reason: typed(status, 'reason', 'string', ''),
    evaluationError: typed(status, 'evaluationError', 'string', ''),
  };
}

/** A value of another type is no answer: nobody guesses what `"false"` means. */
function typed<T extends JsonValue>(of: JsonObject, name: string, type: string, absent: T): T {
  const value = valueAt(of, name) ?? absent;
  if (typeof value !== type) throw new Error(`status.${name} is no ${type}`);
  return value as T; // Of the type of `absent`, as was just seen.
}

type Fields = Record<string, unknown>;

/** Without what is empty. */
function reviewSpec(asked: Attributes, groupsField: 'groups' | 'group'): Fields {
  const { user } = asked;
  const extra = lowerCased(user.extra);
  return {
    ...(asked.isResourceRequest
      ? { resourceAttributes: withoutEmpty(resourceAttributes(asked)) }
      : { nonResourceAttributes: withoutEmpty({ path: asked.path, verb: asked.verb }) }),
    ...withoutEmpty({ user: user.name }),
    ...(user.groups.length === 0 ? {} : { [groupsField]: user.groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    ...withoutEmpty({ uid: user.uid }),
  };
}

/** The variable `request` of match conditions: every text is there, an empty one too. */
export function conditionRequest(asked: Attributes): Fields {
  const { user } = asked;
  return {
    user: user.name,
    groups: user.groups,
    uid: user.uid,
    extra: lowerCased(user.extra),
    ...(asked.isResourceRequest
      ? { resourceAttributes: resourceAttributes(asked) }
      : { nonResourceAttributes: { path: asked.path, verb: asked.verb } }),
  };
}

function resourceAttributes(asked: Attributes): Fields {
  const fieldSelector = selectorOf(asked.fieldSelector);
  const labelSelector = selectorOf(asked.labelSelector);
  return {
    namespace: asked.namespace,
    verb: asked.verb,
    group: asked.group,
    version: asked.version,
    resource: asked.resource,
    subresource: asked.subresource,
    name: asked.name,
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  };
}

const withoutEmpty = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

const operators: Readonly<Record<LabelOperator, string | undefined>> = {
  in: 'In',
  notIn: 'NotIn',
  exists: 'Exists',
  notExists: 'DoesNotExist',
  // Reviews have no words for these: left out, the request reads as asking for more than it does.
  greaterThan: undefined,
  lessThan: undefined,
};

function selectorOf(selector: SelectorAttribute | undefined): Fields | undefined {
  if (selector === undefined) return undefined;
  if ('rawSelector' in selector) return { rawSelector: selector.rawSelector };
  const requirements = selector.requirements.flatMap(requirementOf);
  return requirements.length === 0 ? undefined : { requirements };
}

function requirementOf({ key, operator, values }: LabelRequirement): readonly Fields[] {
  const word = operators[operator];
  if (word === undefined) return [];
  return [{ key, operator: word, ...(values.length === 0 ? {} : { values }) }];
}

/** Keys that differ by case alone are one. */
function lowerCased(extra: Attributes['user']['extra']): Record<string, readonly string[]> {
  const keys = Object.keys(extra);
  if (keys.every((key) => key === key.toLowerCase())) return extra;
  const made = new Map<string, readonly string[]>();
  for (const key of keys) {
    const lower = key.toLowerCase();
    made.set(lower, [...(made.get(lower) ?? []), ...(extra[key] ?? [])]);
  }
  return Object.fromEntries(made);
}
