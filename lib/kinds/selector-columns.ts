// Labels and label selectors in the text form of queries.
import { asRecord, recordAt, recordsAt, textAt, textsAt } from '../api/json-access.ts';
import type { JsonObject } from '../api/type-info.ts';
import { at } from '../api/column.ts';
import type { Fill } from '../api/column.ts';

/** `a=b,c=d` in the order of the keys. */
export function labelsText(holder: Readonly<JsonObject> | undefined, member: string): string {
  const given = recordAt(holder, member);
  return Object.keys(given ?? {})
    .map((key) => `${key}=${textAt(given, key)}`)
    .sort()
    .join(',');
}

/** Labels at a dotted path; `<none>` without. */
export const labels = (path: string): Fill => {
  const dot = path.lastIndexOf('.');
  const [holder, member] = [path.slice(0, Math.max(dot, 0)), path.slice(dot + 1)];
  return (object) => {
    const parent = holder === '' ? object : at(object, holder);
    return labelsText(asRecord(parent), member) || '<none>';
  };
};

/** A label selector at a dotted path. */
export const selector = (path: string): Fill => {
  return (object) => selectorText(recordAt({ value: at(object, path) }, 'value'));
};

/** `<none>` for one that is absent or selects everything, `<invalid>` for an unknown operator. */
export function selectorText(of: Readonly<JsonObject> | undefined): string {
  const wanted = recordAt(of, 'matchLabels');
  const requirements: (readonly [key: string, text: string])[] = Object.keys(wanted ?? {}).map(
    (key) => [key, `${key}=${textAt(wanted, key)}`],
  );
  for (const expression of recordsAt(of, 'matchExpressions')) {
    const requirement = requirementText(expression);
    if (requirement === undefined) return '<invalid>';
    requirements.push([textAt(expression, 'key'), requirement]);
  }
  requirements.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  return requirements.map(([, requirement]) => requirement).join(',') || '<none>';
}

function requirementText(expression: JsonObject): string | undefined {
  const key = textAt(expression, 'key');
  const values = [...textsAt(expression, 'values')].sort().join(',');
  switch (textAt(expression, 'operator')) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return undefined;
  }
}
