// Selectors of a request as authorizers see them: parsed without knowing what the resource offers,
// and never a failure. The verb that follows refuses what it cannot read.
import { parseFieldRequirements, parseLabelRequirements } from '../api/selector.ts';
import type { LabelRequirement } from '../api/selector.ts';
import { StatusError } from '../base/status.ts';
import type { SelectorAttribute } from './authorizer.ts';

/** undefined: the selector selects everything. */
export const labelSelectorAttribute = (text: string): SelectorAttribute | undefined =>
  attributeOf(text, parseLabelRequirements);

/** undefined: the selector selects everything. */
export const fieldSelectorAttribute = (text: string): SelectorAttribute | undefined =>
  attributeOf(text, fieldRequirements);

const fieldRequirements = (text: string): LabelRequirement[] =>
  parseFieldRequirements(text).map(({ path, operator, value }) => ({
    key: path,
    operator: operator === '=' ? 'in' : 'notIn',
    values: [value],
  }));

function attributeOf(
  text: string,
  parse: (text: string) => readonly LabelRequirement[],
): SelectorAttribute | undefined {
  try {
    const requirements = parse(text);
    return requirements.length === 0 ? undefined : { requirements };
  } catch (error) {
    if (error instanceof StatusError) return { rawSelector: text };
    throw error;
  }
}

/** The one name that a selector of fields allows; '': there is none. */
export function selectedName(selector: SelectorAttribute | undefined): string {
  if (selector === undefined || 'rawSelector' in selector) return '';
  const isName = ({ key, operator }: LabelRequirement): boolean =>
    key === 'metadata.name' && operator === 'in';
  return selector.requirements.find(isName)?.values[0] ?? '';
}
