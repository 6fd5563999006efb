// What an access review asks about, as authorizers see it. Parts of selectors that nobody can read
// limit nothing, which asks for more than was meant; the answer says so.
import { recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { LabelOperator, LabelRequirement } from '../../api/selector.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Attributes, SelectorAttribute } from '../../authz/authorizer.ts';
import { fieldSelectorAttribute, labelSelectorAttribute } from '../../authz/selector-attribute.ts';
import type { User } from '../../base/user.ts';

export interface ReviewedAttributes {
  readonly attributes: Attributes;
  /** What of the selectors could not be read. */
  readonly problems: readonly string[];
}

/** `spec` is valid. */
export function reviewedAttributes(spec: Readonly<JsonObject>, user: User): ReviewedAttributes {
  const resource = recordAt(spec, 'resourceAttributes');
  if (resource === undefined) {
    const path = recordAt(spec, 'nonResourceAttributes');
    return { attributes: pathAttributes(path, user), problems: [] };
  }
  const fields = readSelector(recordAt(resource, 'fieldSelector'), {
    parse: fieldSelectorAttribute,
    operators: fieldOperators,
    valuesMax: 1,
  });
  const labels = readSelector(recordAt(resource, 'labelSelector'), {
    parse: labelSelectorAttribute,
    operators: labelOperators,
    valuesMax: Infinity,
  });
  const version = textAt(resource, 'version');
  return {
    attributes: {
      user,
      verb: textAt(resource, 'verb'),
      isResourceRequest: true,
      group: textAt(resource, 'group'),
      version: version === '' ? '*' : version,
      resource: textAt(resource, 'resource'),
      subresource: textAt(resource, 'subresource'),
      namespace: textAt(resource, 'namespace'),
      name: textAt(resource, 'name'),
      fieldSelector: fields.selector,
      labelSelector: labels.selector,
      path: '',
    },
    problems: [...problemOf('fieldSelector', fields), ...problemOf('labelSelector', labels)],
  };
}

const pathAttributes = (of: JsonObject | undefined, user: User): Attributes => ({
  user,
  verb: textAt(of, 'verb'),
  isResourceRequest: false,
  group: '',
  version: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  fieldSelector: undefined,
  labelSelector: undefined,
  path: textAt(of, 'path'),
});

interface ReadSelector {
  /** undefined: it limits nothing. */
  readonly selector: SelectorAttribute | undefined;
  readonly isRead: 'whole' | 'partly' | 'not';
}

interface SelectorRules {
  readonly parse: (text: string) => SelectorAttribute | undefined;
  readonly operators: Readonly<Record<string, LabelOperator>>;
  readonly valuesMax: number;
}

const fieldOperators = { In: 'in', NotIn: 'notIn' } as const;
const labelOperators = { ...fieldOperators, Exists: 'exists', DoesNotExist: 'notExists' } as const;

function readSelector(given: JsonObject | undefined, rules: SelectorRules): ReadSelector {
  if (given === undefined) return { selector: undefined, isRead: 'whole' };
  const raw = textAt(given, 'rawSelector');
  if (raw !== '') {
    const selector = rules.parse(raw);
    const isRead = selector === undefined || !('rawSelector' in selector);
    return { selector, isRead: isRead ? 'whole' : 'not' };
  }
  const asked = recordsAt(given, 'requirements');
  const requirements = asked.flatMap((one) => requirementOf(one, rules) ?? []);
  if (requirements.length === 0) return { selector: undefined, isRead: 'not' };
  const isWhole = requirements.length === asked.length;
  return { selector: { requirements }, isRead: isWhole ? 'whole' : 'partly' };
}

/** undefined: it cannot be read. */
function requirementOf(
  given: JsonObject,
  { operators, valuesMax }: SelectorRules,
): LabelRequirement | undefined {
  const name = textAt(given, 'operator');
  const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
  const values = textsAt(given, 'values');
  if (operator === undefined || values.length > valuesMax) return undefined;
  return { key: textAt(given, 'key'), operator, values };
}

function problemOf(member: string, { isRead }: ReadSelector): string[] {
  if (isRead === 'whole') return [];
  const how = isRead === 'partly' ? 'partially ignored' : 'ignored';
  return [`spec.resourceAttributes.${member} ${how} due to parse error`];
}
