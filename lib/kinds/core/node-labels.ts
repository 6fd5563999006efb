// Labels of nodes that have another name since they are stable, and what is said of the old ones.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Holder } from '../validator.ts';

const renamed: readonly (readonly [old: string, label: string, since: string])[] = [
  ['beta.{kubernetes}.io/arch', '{kubernetes}.io/arch', 'v1.14'],
  ['beta.{kubernetes}.io/os', '{kubernetes}.io/os', 'v1.14'],
  ['failure-domain.beta.{kubernetes}.io/region', 'topology.{kubernetes}.io/region', 'v1.17'],
  ['failure-domain.beta.{kubernetes}.io/zone', 'topology.{kubernetes}.io/zone', 'v1.17'],
  ['beta.{kubernetes}.io/instance-type', 'node.{kubernetes}.io/instance-type', 'v1.17'],
];

interface StableLabel {
  readonly label: string;
  readonly since: string;
}

function stableLabel(label: string, naming: NamingProfile): StableLabel | undefined {
  if (!label.includes('beta.')) return undefined;
  const found = renamed.find(([old]) => naming.resolve(old) === label);
  return found === undefined ? undefined : { label: naming.resolve(found[1]), since: found[2] };
}

/** The label's stable name; itself where it has none. */
export const stableLabelOf = (label: string, naming: NamingProfile): string =>
  stableLabel(label, naming)?.label ?? label;

/** undefined: the label is not deprecated. */
export function deprecatedLabelText(label: string, naming: NamingProfile): string | undefined {
  const stable = stableLabel(label, naming);
  if (stable === undefined) return undefined;
  return `deprecated since ${stable.since}; use "${stable.label}" instead`;
}

/** Of the expressions of a term that selects nodes, or of a selector by their labels. */
export const expressionWarnings = (
  selector: Holder,
  path: string,
  naming: NamingProfile,
): readonly string[] =>
  recordsAt(selector, 'matchExpressions').flatMap((expression, at) => {
    const key = textAt(expression, 'key');
    const text = deprecatedLabelText(key, naming);
    return text === undefined
      ? []
      : [`${path}.matchExpressions[${String(at)}].key: ${key} is ${text}`];
  });

export const labelWarnings = (
  selector: Holder,
  path: string,
  naming: NamingProfile,
): readonly string[] =>
  Object.keys(recordAt(selector, 'matchLabels') ?? {}).flatMap((label) => {
    const text = deprecatedLabelText(label, naming);
    return text === undefined ? [] : [`${path}.matchLabels.${label}: ${text}`];
  });
