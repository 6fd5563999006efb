// Named formats of texts, as rules beside fields and strategies use them. Each gives its problems
// (none: valid) in time linear in the text.
import { cidrProblems, ipProblems } from './address-formats.ts';
import {
  configMapKeyProblems,
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
  pathSegmentProblems,
  qualifiedNameProblems,
} from './name-rules.ts';

export type Format = (text: string) => readonly string[];

const none: readonly string[] = [];
const unless = (isRight: boolean, text: string): readonly string[] => (isRight ? none : [text]);
const bytesMax = (text: string, max: number): readonly string[] =>
  unless(Buffer.byteLength(text) <= max, `must be no more than ${String(max)} bytes`);

const cIdentifier = '[A-Za-z_][A-Za-z0-9_]*';
export const cIdentifierPattern = new RegExp(`^${cIdentifier}$`);
const cIdentifierText =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of " +
  "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', " +
  `regex used for validation is '${cIdentifier}')`;
export const cIdentifierProblems = (text: string): readonly string[] =>
  unless(cIdentifierPattern.test(text), cIdentifierText);

export function portNameProblems(text: string): readonly string[] {
  return [
    ...unless(text.length <= 15, 'must be no more than 15 characters'),
    ...unless(
      /^[-a-z0-9]+$/.test(text),
      'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ),
    ...unless(/[a-z]/.test(text), 'must contain at least one letter (a-z)'),
    ...unless(!text.includes('--'), 'must not contain consecutive hyphens'),
    ...unless(!/^-|-$/.test(text), 'must not begin or end with a hyphen'),
  ];
}

export const portNumberProblems = (port: number): readonly string[] =>
  unless(
    Number.isInteger(port) && port >= 1 && port <= 65_535,
    'must be between 1 and 65535, inclusive',
  );

const environmentNameText =
  'a valid environment variable name must consist only of ' +
  'printable ASCII characters other than "="';
const environmentNameProblems = (text: string): readonly string[] =>
  unless(/^[ -<>-~]+$/.test(text), environmentNameText);

/** `domain/path`: names of controllers. */
export function domainPathProblems(text: string): readonly string[] {
  const slash = text.indexOf('/');
  if (slash <= 0 || slash === text.length - 1) {
    return ['must be a domain-prefixed path (such as "acme.io/foo")'];
  }
  const path = text.slice(slash + 1);
  const isPath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path);
  return [
    ...dns1123SubdomainProblems(text.slice(0, slash)),
    ...unless(isPath, 'must have a path of unreserved and delimiter characters of RFC 3986'),
  ];
}

export function wildcardSubdomainProblems(text: string): readonly string[] {
  if (!text.startsWith('*.')) {
    return ['a wildcard DNS-1123 subdomain must start with "*.", such as "*.example.com"'];
  }
  return dns1123SubdomainProblems(text.slice(2));
}

/** A relative path that stays below its root. */
export function localPathProblems(text: string): readonly string[] {
  return [...unless(!text.startsWith('/'), 'must be a relative path'), ...noDotsProblems(text)];
}

/** A path for a file of a volume: names that begin with two dots are the volume's own. */
export const ownPathProblems = (text: string): readonly string[] => [
  ...localPathProblems(text),
  ...unless(!text.startsWith('..') || text.startsWith('../'), "must not start with '..'"),
];
const noDotsProblems = (text: string): readonly string[] =>
  unless(!text.split('/').includes('..'), "must not contain '..'");

const driverNameProblems = (text: string): readonly string[] =>
  dns1123SubdomainProblems(text.toLowerCase());

const uuidText =
  'must be a lowercase UUID in 8-4-4-4-12 format, such as 123e4567-e89b-12d3-a456-426614174000';
const uuidProblems = (text: string): readonly string[] =>
  unless(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text), uuidText);

/** Subdomains joined by slashes; how long they may be together is a rule of its own. */
export const poolNameProblems = (text: string): readonly string[] =>
  text
    .split('/')
    .flatMap((part, at) =>
      dns1123SubdomainProblems(part).map((problem) => `segment ${String(at)}: ${problem}`),
    );

function attributeNameProblems(text: string): readonly string[] {
  const [domain = '', id, more] = text.split('/');
  if (id === undefined || more !== undefined || domain === '') {
    return ['must be a fully qualified name: a domain and an identifier separated by a slash'];
  }
  return [
    ...bytesMax(domain, 63),
    ...dns1123SubdomainProblems(domain),
    ...unless(cIdentifierPattern.test(id) && id.length <= 32, 'must end in a C identifier (<= 32)'),
  ];
}

const extendedResourceProblems = (text: string): readonly string[] => [
  ...unless(text.includes('/') && !text.startsWith('requests.'), 'must be an extended resource'),
  ...qualifiedNameProblems(text),
];

const sysctlPart = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlPattern = new RegExp(`^(${sysctlPart}[./])*${sysctlPart}$`);

const iqnPatterns: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.[-.0-9A-Za-z]+:[^,;*&$|\s]+$/,
  eui: /^eui.[0-9A-Za-z]{16}$/,
  naa: /^naa.[0-9A-Za-z]{32}$/,
};

/** A name of iSCSI. */
function iqnProblems(text: string): readonly string[] {
  const pattern = iqnPatterns[text.slice(0, 3)];
  if (pattern === undefined) return ['must be valid format starting with iqn, eui, or naa'];
  return unless(pattern.test(text), 'must be valid format');
}

const listed: Readonly<Record<string, Format>> = {
  configMapKey: configMapKeyProblems,
  cIdentifier: (text) => unless(cIdentifierPattern.test(text), 'must be a valid C identifier'),
  cidr: cidrProblems,
  dns1035Label: dns1035LabelProblems,
  dns1123Label: dns1123LabelProblems,
  dns1123Subdomain: dns1123SubdomainProblems,
  domainPath: domainPathProblems,
  driverName: driverNameProblems,
  envVarName: environmentNameProblems,
  httpHeaderName: (text) =>
    unless(
      /^[-A-Za-z0-9]+$/.test(text),
      "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name')",
    ),
  absolutePath: (text) => unless(text.startsWith('/'), 'must be an absolute path'),
  ip: ipProblems,
  iqn: iqnProblems,
  labelKey: qualifiedNameProblems,
  labelValue: labelValueProblems,
  localPath: localPathProblems,
  ownPath: ownPathProblems,
  noDots: noDotsProblems,
  pathSegment: pathSegmentProblems,
  portName: portNameProblems,
  provisioner: (text) => qualifiedNameProblems(text.toLowerCase()),
  qualifiedName: qualifiedNameProblems,
  sysctl: (text) => [
    ...bytesMax(text, 253),
    ...unless(sysctlPattern.test(text), `must have at most 253 characters, like 'kernel.shm_rmid'`),
  ],
  'k8s-extended-resource-name': extendedResourceProblems,
  'k8s-label-key': qualifiedNameProblems,
  'k8s-label-value': labelValueProblems,
  'k8s-long-name': dns1123SubdomainProblems,
  'k8s-long-name-caseless': (text) => dns1123SubdomainProblems(text.toLowerCase()),
  'k8s-path-segment-name': pathSegmentProblems,
  'k8s-resource-fully-qualified-name': attributeNameProblems,
  'k8s-resource-pool-name': poolNameProblems,
  'k8s-short-name': dns1123LabelProblems,
  'k8s-uuid': uuidProblems,
};
const formats: ReadonlyMap<string, Format> = new Map(Object.entries(listed));

/** undefined: there is no format of this name. */
export const formatOf = (name: string): Format | undefined => formats.get(name);
