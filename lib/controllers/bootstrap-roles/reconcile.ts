// What a stored default role or binding becomes at a start (specification 3, RBAC rules, 7): what
// is missing is added, what others added stays. Pure.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { without } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { notHeld, rulesOf, together } from '../../kinds/rbac/policy-rules.ts';
import { autoUpdateAnnotation, ruleObject } from './role-spec.ts';

type Stored = Readonly<ApiObject>;

/** `replace`: it cannot become what it should be, and is made anew. */
export type Reconciled =
  | { readonly action: 'keep' }
  | { readonly action: 'update'; readonly object: Stored }
  | { readonly action: 'replace' };

const keep: Reconciled = { action: 'keep' };

/** `expected` says by its kind whether it is a role or a binding. */
export function reconciled(stored: Stored, expected: Stored, naming: NamingProfile): Reconciled {
  const annotations = stored.metadata?.annotations ?? {};
  if (annotations[naming.resolve(autoUpdateAnnotation)] === 'false') return keep;
  const isBinding = 'roleRef' in expected;
  if (isBinding && !sameJson(stored['roleRef'], expected['roleRef'])) return { action: 'replace' };
  const filled = isBinding ? withSubjects(stored, expected) : withRights(stored, expected);
  const object = withMetadata(filled, expected);
  return object === stored ? keep : { action: 'update', object };
}

/** Labels and annotations that are there keep their values. */
function withMetadata(stored: Stored, expected: Stored): Stored {
  const [has, wants] = [stored.metadata ?? {}, expected.metadata ?? {}];
  const labels = { ...wants.labels, ...has.labels };
  const annotations = { ...wants.annotations, ...has.annotations };
  const isWhole = sameJson(labels, has.labels) && sameJson(annotations, has.annotations);
  return isWhole ? stored : { ...stored, metadata: { ...has, labels, annotations } };
}

function withSubjects(stored: Stored, expected: Stored): Stored {
  const has = recordsAt(stored, 'subjects');
  const missing = recordsAt(expected, 'subjects').filter(
    (subject) => !has.some((one) => isSameSubject(one, subject)),
  );
  return missing.length === 0 ? stored : { ...stored, subjects: [...has, ...missing] };
}

const isSameSubject = (one: JsonObject, other: JsonObject): boolean =>
  ['kind', 'apiGroup', 'name', 'namespace'].every(
    (name) => textAt(one, name) === textAt(other, name),
  );

/** An aggregated role has the rules that its selectors gather; no other one is aggregated. */
function withRights(stored: Stored, expected: Stored): Stored {
  const wanted = recordAt(expected, 'aggregationRule');
  const aggregation = recordAt(stored, 'aggregationRule');
  if (wanted !== undefined) {
    const has = recordsAt(aggregation, 'clusterRoleSelectors');
    const missing = recordsAt(wanted, 'clusterRoleSelectors').filter(
      (selector) => !has.some((one) => sameJson(one, selector)),
    );
    if (missing.length === 0) return stored;
    const clusterRoleSelectors = [...has, ...missing];
    return { ...stored, aggregationRule: { ...aggregation, clusterRoleSelectors } };
  }
  const missing = together(notHeld(rulesOf(stored), rulesOf(expected))).map(ruleObject);
  const plain = aggregation === undefined ? stored : without(stored, 'aggregationRule');
  if (missing.length === 0) return plain;
  return { ...plain, rules: [...recordsAt(stored, 'rules'), ...missing] };
}
