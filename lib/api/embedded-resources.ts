// Whole objects within others, by the schema: each says what it is, and its metadata follows the
// rules of metadata. What else they hold is not checked here.
import type { FieldError } from '../base/status.ts';
import type { FailureList } from './failure-list.ts';
import { childPath } from './field-errors.ts';
import { isObject, ownMember } from './json-value.ts';
import { validateObjectMeta } from './meta.ts';
import { dns1035LabelProblems } from './name-rules.ts';
import { walkTo } from './schema-walk.ts';
import type { PartVisit, Walk } from './schema-walk.ts';
import type { JsonObject, ValueInfo } from './type-info.ts';
import type { NamingProfile } from './vendor.ts';

/** undefined: no object is embedded. The root itself is not one. */
export function compileEmbeddedChecks(root: ValueInfo, profile: NamingProfile): Walk | undefined {
  const has = (info: ValueInfo): boolean => info !== root && isEmbedded(info);
  return walkTo(root, { ...embeddedChecks(profile), has });
}

/** What whole objects must be. */
export const embeddedChecks = (profile: NamingProfile): PartVisit => ({
  has: isEmbedded,
  visit(value, _info, path, { errors }) {
    if (!isObject(value)) return;
    checkApiVersion(ownMember(value, 'apiVersion'), childPath(path, 'apiVersion'), errors);
    checkKind(ownMember(value, 'kind'), childPath(path, 'kind'), errors);
    const metadata = ownMember(value, 'metadata');
    if (!isObject(metadata)) return;
    for (const error of metadataErrors(metadata, childPath(path, 'metadata'), profile)) {
      errors.push(error);
    }
  },
});

/** Whether a value is a whole object. */
export const isEmbedded = ({ cardinality, message }: ValueInfo): boolean =>
  cardinality === 'single' && message?.open?.typeMeta !== undefined;

const invalid = (field: string, badValue: unknown, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  ...{ field, badValue, detail },
});

/** What is wrong with a member that must be a text that is not empty; undefined: nothing. */
function absence(value: unknown, field: string): FieldError | undefined {
  if (value === undefined) return { reason: 'FieldValueRequired', field, detail: '' };
  if (typeof value !== 'string') return invalid(field, value, 'must be a string');
  return value === '' ? invalid(field, value, 'must not be empty') : undefined;
}

function checkApiVersion(value: unknown, field: string, errors: FailureList): void {
  const error = absence(value, field);
  if (error !== undefined) errors.push(error);
  else if (typeof value === 'string' && value.split('/').length > 2) {
    errors.push(invalid(field, value, `unexpected GroupVersion string: ${value}`));
  }
}

function checkKind(value: unknown, field: string, errors: FailureList): void {
  const error = absence(value, field);
  if (error !== undefined) errors.push(error);
  else if (typeof value === 'string') {
    const problems = dns1035LabelProblems(value.toLowerCase());
    if (problems.length > 0) errors.push(invalid(field, value, problems.join(',')));
  }
}

/** It may have no name, and be in a namespace or in none. */
function metadataErrors(
  metadata: JsonObject,
  path: string,
  profile: NamingProfile,
): readonly FieldError[] {
  const { name, namespace } = metadata;
  const isNamed = typeof name === 'string' && name !== '';
  const named = isNamed ? metadata : { ...metadata, name: 'unnamed' };
  const namespaced = typeof namespace === 'string' && namespace !== '';
  const rules = { namespaced, nameRule: 'pathSegment', profile } as const;
  return validateObjectMeta(named, { ...rules, takesUnqualifiedFinalizers: true }, path);
}
