// Formats of names, label keys and label values, and each kind's rule for metadata.name.
// Every check returns its problems in Kubernetes' words (none: valid), in time linear in the text.
import { limits } from '../base/limits.ts';
import { canonicalIpProblems } from './address-formats.ts';
import { asText, valueIn } from './json-access.ts';
import type { JsonObject, NameRule } from './type-info.ts';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const dns1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualifiedPart = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValueText = `(${qualifiedPart})?`;
const configMapKeyText = '[-._a-zA-Z0-9]+';

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);
const labelPattern = whole(label);
const dns1035Pattern = whole(dns1035);
const qualifiedPartPattern = whole(qualifiedPart);
const labelValuePattern = whole(labelValueText);
const configMapKeyPattern = whole(configMapKeyText);

/** Kubernetes' sentence for a pattern that does not match. */
const regexText = (rule: string, pattern: string, ...examples: readonly string[]): string =>
  `${rule} (e.g. ${examples.map((one) => `'${one}'`).join(',  or ')}, ` +
  `regex used for validation is '${pattern}')`;

const labelText = regexText(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " +
    'and must start and end with an alphanumeric character',
  label,
  'my-name',
  '123-abc',
);
const subdomainText = regexText(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' " +
    "or '.', and must start and end with an alphanumeric character",
  subdomain,
  'example.com',
);
const dns1035Text = regexText(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', " +
    'start with an alphabetic character, and end with an alphanumeric character',
  dns1035,
  'my-name',
  'abc-123',
);
const qualifiedRule =
  "must consist of alphanumeric characters, '-', '_' or '.', " +
  'and must start and end with an alphanumeric character';
const qualifiedExamples = ['MyName', 'my.name', '123-abc'] as const;
const namePartText = regexText(`name part ${qualifiedRule}`, qualifiedPart, ...qualifiedExamples);
const labelKeyText =
  regexText(`a valid label key ${qualifiedRule}`, qualifiedPart, ...qualifiedExamples) +
  " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
const labelValueRuleText = regexText(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
    'and must start and end with an alphanumeric character',
  labelValueText,
  'MyValue',
  'my_value',
  '12345',
);
const configMapKeyRuleText = regexText(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  configMapKeyText,
  'key.name',
  'KEY_NAME',
  'key-name',
);

const tooLong = (text: string, max: number): string[] =>
  Buffer.byteLength(text) > max ? [`must be no more than ${String(max)} bytes`] : [];
/** The same in the words of names for DNS. */
const tooLongName = (text: string, max: number): string[] =>
  Buffer.byteLength(text) > max ? [`must be no more than ${String(max)} characters`] : [];
const unless = (matches: boolean, text: string): string[] => (matches ? [] : [text]);

export function dns1123LabelProblems(text: string): string[] {
  const problems = tooLongName(text, 63);
  if (!labelPattern.test(text)) {
    problems.push(isDottedLabels(text) ? 'must not contain dots' : labelText);
  }
  return problems;
}
export const dns1035LabelProblems = (text: string): string[] => [
  ...tooLongName(text, 63),
  ...unless(dns1035Pattern.test(text), dns1035Text),
];
export function dns1123SubdomainProblems(text: string): string[] {
  return [...tooLongName(text, 253), ...unless(isDottedLabels(text), subdomainText)];
}
const isDottedLabels = (text: string): boolean =>
  text.split('.').every((part) => labelPattern.test(part));

/** `[prefix/]name`: keys of labels, finalizers; annotation keys after lower-casing. */
export function qualifiedNameProblems(text: string): string[] {
  const parts = text.split('/');
  if (parts.length > 2) return [labelKeyText];
  const name = parts.at(-1) ?? '';
  const problems: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') problems.push('prefix part must be non-empty');
    else
      problems.push(...dns1123SubdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === '') problems.push('name part must be non-empty');
  else problems.push(...tooLong(name, 63).map((problem) => `name part ${problem}`));
  return [...problems, ...unless(qualifiedPartPattern.test(name), namePartText)];
}

export const labelValueProblems = (text: string): string[] => [
  ...tooLong(text, 63),
  ...unless(labelValuePattern.test(text), labelValueRuleText),
];

/** What no name may be, since it is a segment of a path: the check of every name in a URL. */
export function pathSegmentProblems(text: string): string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%'].filter((bad) => text.includes(bad)).map((bad) => `may not contain '${bad}'`);
}

export function configMapKeyProblems(text: string): string[] {
  const problems = [
    ...tooLong(text, 253),
    ...unless(configMapKeyPattern.test(text), configMapKeyRuleText),
  ];
  if (text === '.' || text === '..') problems.push(`must not be '${text}'`);
  else if (text.startsWith('..')) problems.push("must not start with '..'");
  return problems;
}

// As a prefix (generateName) a trailing '-' stands for what will follow it.
const asPrefix = (text: string): string =>
  text.endsWith('-') && text.length > 1 ? `${text.slice(0, -1)}a` : text;

const fieldAt = (object: Readonly<JsonObject> | undefined, ...path: readonly string[]): string =>
  asText(valueIn(object, path));

function signerPrefixProblems(name: string, signer: string): string[] {
  const prefix = signer === '' ? '' : `${signer.replaceAll('/', ':')}:`;
  if (prefix === '' && name.includes(':')) {
    return ['ClusterTrustBundle without signer name must not have ":" in its name'];
  }
  if (!name.startsWith(prefix))
    return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
  return dns1123SubdomainProblems(name.slice(prefix.length));
}

function groupDotResourceProblems(name: string): string[] {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  const group = dns1123SubdomainProblems(name.slice(0, dot));
  const resource = dns1035LabelProblems(name.slice(dot + 1));
  return [
    ...group.map((problem) => `the group segment ${problem}`),
    ...resource.map((problem) => `the resource segment ${problem}`),
  ];
}

/** What no kind's name may be: it is a segment of URLs and of the key in etcd. */
function segmentProblems(text: string, isPrefix: boolean): string[] {
  const problems = pathSegmentProblems(text);
  if (/\p{Cc}/u.test(text)) problems.push('may not contain control characters');
  if (!text.isWellFormed()) problems.push('must be well-formed Unicode');
  if (!isPrefix && text.length > limits.nameLengthMax)
    problems.push(`must be no more than ${String(limits.nameLengthMax)} characters`);
  return problems;
}

/**
 * Problems of `metadata.name`, or of `metadata.generateName` when `isPrefix`. `object`: for
 * names composed of fields.
 */
export function nameProblems(
  rule: NameRule,
  name: string,
  of: { readonly isPrefix: boolean; readonly object?: Readonly<JsonObject> },
): string[] {
  const problems = ruleProblems(rule, name, of);
  return problems.length > 0 ? problems : segmentProblems(name, of.isPrefix);
}

function ruleProblems(
  rule: NameRule,
  name: string,
  of: { readonly isPrefix: boolean; readonly object?: Readonly<JsonObject> },
): string[] {
  const text = of.isPrefix ? asPrefix(name) : name;
  switch (rule) {
    case 'dns1123Subdomain':
      return dns1123SubdomainProblems(text);
    case 'shortSubdomain': // The names of the objects made from it are 11 characters longer.
      return [...dns1123SubdomainProblems(text), ...(of.isPrefix ? [] : tooLongName(text, 52))];
    case 'dns1123Label':
      return dns1123LabelProblems(text);
    case 'dns1035Label':
      return dns1035LabelProblems(text);
    case 'pathSegment':
    case 'any':
      return [];
    case 'configMapKey':
      return configMapKeyProblems(name);
    case 'csiDriver':
      return [...tooLong(text, 63), ...dns1123SubdomainProblems(text)];
    case 'ipAddress':
      return [...canonicalIpProblems(name)];
    case 'pluralDotGroup': {
      const plural = fieldAt(of.object, 'spec', 'names', 'plural');
      const wanted = `${plural}.${fieldAt(of.object, 'spec', 'group')}`;
      const isRight = of.object === undefined || name === wanted;
      const composed = unless(isRight, 'must be spec.names.plural+"."+spec.group');
      return [...dns1123SubdomainProblems(text), ...composed];
    }
    case 'versionDotGroup': {
      const version = fieldAt(of.object, 'spec', 'version');
      const wanted = `${version}.${fieldAt(of.object, 'spec', 'group')}`;
      const isRight = of.object === undefined || name === wanted;
      return unless(isRight, `must be \`spec.version+"."+spec.group\`: "${wanted}"`);
    }
    case 'signerPrefix':
      return signerPrefixProblems(text, fieldAt(of.object, 'spec', 'signerName'));
    case 'groupDotResource':
      return groupDotResourceProblems(text);
  }
}
