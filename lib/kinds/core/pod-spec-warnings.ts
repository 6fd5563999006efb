// Warnings of a pod's spec and of annotations that pods have no use for.
import { ipWarnings, listedIpWarnings } from '../../api/address-formats.ts';
import {
  entriesAt,
  isSet,
  numberAt,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  textsAt,
} from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Holder } from '../validator.ts';
import { containerWarnings, overheadWarnings } from './container-warnings.ts';
import { deprecatedLabelText, expressionWarnings } from './node-labels.ts';
import { noSeccomp, seccompKey } from './pod-annotations.ts';

/** A pod, or a template for pods. */
export interface PodLike {
  readonly meta: JsonObject | undefined;
  readonly spec: JsonObject;
  /** '' for a pod. */
  readonly path: string;
  readonly naming: NamingProfile;
}

/** `path` is that of the spec, `annotationsPath` that of the annotations. */
export function podSpecWarnings(
  { meta, spec, path: root, naming }: PodLike,
  path: string,
  annotationsPath: string,
): readonly string[] {
  const annotations = recordAt(meta, 'annotations');
  return [
    ...labelWarnings(spec, path, naming),
    ...annotationWarnings(annotations, annotationsPath, naming),
    ...duplicateWarnings(recordsAt(spec, 'hostAliases'), `${path}.hostAliases`, 'ip'),
    ...duplicateWarnings(recordsAt(spec, 'imagePullSecrets'), `${path}.imagePullSecrets`, 'name'),
    ...recordsAt(spec, 'imagePullSecrets').flatMap((secret, at) =>
      textAt(secret, 'name') === ''
        ? [`${path}.imagePullSecrets[${String(at)}].name: invalid empty name ""`]
        : [],
    ),
    ...overheadWarnings(recordAt(spec, 'overhead'), `${path}.overhead`),
    ...seccompWarnings(spec, annotations, annotationsPath, naming),
    ...containerWarnings(spec, path, { annotations, annotationsPath, naming, isPod: root === '' }),
    ...graceWarnings(spec, path),
    ...affinityWarnings(recordAt(spec, 'affinity'), `${path}.affinity`),
    ...addressWarnings(spec, path),
  ];
}

function labelWarnings(spec: JsonObject, path: string, naming: NamingProfile): readonly string[] {
  const warnings: string[] = [];
  const warn = (label: string, said: (text: string) => string): void => {
    const text = deprecatedLabelText(label, naming);
    if (text !== undefined) warnings.push(said(text));
  };
  for (const [label] of entriesAt(spec, 'nodeSelector')) {
    warn(label, (text) => `${path}.nodeSelector[${label}]: ${text}`);
  }
  const affinity = recordIn(spec, 'affinity', 'nodeAffinity');
  const where = `${path}.affinity.nodeAffinity`;
  const required = recordAt(affinity, requiredTerms);
  const terms: (readonly [string, Holder])[] = [
    ...recordsAt(required, 'nodeSelectorTerms').map(
      (term, at) => [`${where}.${requiredTerms}.nodeSelectorTerms[${String(at)}]`, term] as const,
    ),
    ...recordsAt(affinity, preferredTerms).map(
      (term, at) =>
        [
          `${where}.${preferredTerms}[${String(at)}].preference`,
          recordAt(term, 'preference'),
        ] as const,
    ),
  ];
  for (const [at, term] of terms) warnings.push(...expressionWarnings(term, at, naming));
  for (const [at, spread] of recordsAt(spec, 'topologySpreadConstraints').entries()) {
    const own = `${path}.topologySpreadConstraints[${String(at)}]`;
    const key = textAt(spread, 'topologyKey');
    warn(key, (text) => `${own}.topologyKey: ${key} is ${text}`);
    if (!isSet(spread, 'labelSelector')) warnings.push(`${own}.labelSelector: ${matchesNothing}`);
  }
  return warnings;
}

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferredTerms = 'preferredDuringSchedulingIgnoredDuringExecution';
const matchesNothing = 'a null labelSelector results in matching no pod';

const uselessAnnotations = [
  [
    'scheduler.alpha.{kubernetes}.io/critical-pod',
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  [
    'security.alpha.{kubernetes}.io/sysctls',
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
  [
    'security.alpha.{kubernetes}.io/unsafe-sysctls',
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
] as const;

const annotationWarnings = (
  annotations: Holder,
  path: string,
  naming: NamingProfile,
): readonly string[] =>
  uselessAnnotations
    .map(([name, text]) => [naming.resolve(name), text] as const)
    .filter(([key]) => annotations !== undefined && Object.hasOwn(annotations, key))
    .map(([key, text]) => `${path}[${key}]: ${text}`);

function seccompWarnings(
  spec: JsonObject,
  annotations: Holder,
  path: string,
  naming: NamingProfile,
): readonly string[] {
  const key = seccompKey(naming);
  if (recordIn(spec, 'securityContext', 'seccompProfile') !== undefined) return [];
  return isSet(annotations, key) ? [`${path}[${key}]: ${noSeccomp}`] : [];
}

function duplicateWarnings(
  list: readonly JsonObject[],
  path: string,
  member: string,
): readonly string[] {
  const seen = new Set<string>();
  return list.flatMap((one, at) => {
    const text = textAt(one, member);
    const isNew = !seen.has(text);
    seen.add(text);
    const where = `${path}[${String(at)}].${member}`;
    return isNew ? [] : [`${where}: duplicate ${member} ${JSON.stringify(text)}`];
  });
}

function graceWarnings(spec: JsonObject, path: string): readonly string[] {
  if ((numberAt(spec, 'terminationGracePeriodSeconds') ?? 0) >= 0) return [];
  const text = 'must be >= 0; negative values are invalid and will be treated as 1';
  return [`${path}.terminationGracePeriodSeconds: ${text}`];
}

const affinityWarnings = (affinity: Holder, path: string): readonly string[] =>
  ['podAffinity', 'podAntiAffinity'].flatMap((kind) => {
    const of = recordAt(affinity, kind);
    const terms = [
      ...recordsAt(of, requiredTerms).map((term, at) => ({
        term,
        where: `${requiredTerms}[${String(at)}]`,
      })),
      ...recordsAt(of, preferredTerms).map((weighted, at) => ({
        term: recordAt(weighted, 'podAffinityTerm'),
        where: `${preferredTerms}[${String(at)}].podAffinityTerm`,
      })),
    ];
    return terms
      .filter(({ term }) => !isSet(term, 'labelSelector'))
      .map(({ where }) => `${path}.${kind}.${where}.labelSelector: ${matchesNothing}`);
  });

const addressWarnings = (spec: JsonObject, path: string): readonly string[] => [
  ...textsAt(recordAt(spec, 'dnsConfig'), 'nameservers').flatMap((server, at) =>
    ipWarnings(`${path}.dnsConfig.nameservers[${String(at)}]`, server),
  ),
  ...listedIpWarnings(recordsAt(spec, 'hostAliases'), `${path}.hostAliases`),
];
