// May somebody do something? The three access reviews differ in whom they ask about: anybody,
// anybody within one namespace, or who sends them.
import { entriesAt, recordAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { invalid } from '../../base/status.ts';
import type { User } from '../../base/user.ts';
import { validateAccessReview } from './access-validation.ts';
import type { Review } from './review.ts';
import { reviewedAttributes } from './reviewed-attributes.ts';

/** @throws StatusError 422, and of admission plugins. */
export const reviewAccess: Review = async (review, { authorizer }) => {
  const { kind, group, object, user, signal } = review;
  const errors = validateAccessReview(kind, object);
  if (errors.length > 0) throw invalid({ kind: '', group }, '', errors);
  await review.confirm();
  const spec = recordAt(object, 'spec') ?? {};
  const subject = kind === 'SelfSubjectAccessReview' ? user : subjectOf(spec);
  const { attributes, problems } = reviewedAttributes(spec, subject);
  const { effect, reason, error } = await authorizer.authorize(attributes, signal);
  const evaluationError = [...(error === undefined ? [] : [error]), ...problems].join('; ');
  const status = {
    allowed: effect === 'allow',
    ...(effect === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(evaluationError === '' ? {} : { evaluationError }),
  };
  return { ...object, status };
};

function subjectOf(spec: Readonly<JsonObject>): User {
  const given = recordAt(spec, 'extra');
  const extra = new Map<string, readonly string[]>();
  for (const [key] of entriesAt(spec, 'extra')) {
    const name = key.toLowerCase(); // as keys are wherever users come from
    extra.set(name, [...(extra.get(name) ?? []), ...textsAt(given, key)]);
  }
  return {
    name: textAt(spec, 'user'),
    uid: textAt(spec, 'uid'),
    groups: textsAt(spec, 'groups'),
    extra: Object.fromEntries(extra),
  };
}
