// The spec of a pod or of a template for pods: the rules that options of its fields cannot express.
import {
  entriesAt,
  flagAt,
  isSet,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
} from '../../api/json-access.ts';
import { limits } from '../../base/limits.ts';
import { ipProblems } from '../../api/address-formats.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { mapBytes, validateLabels } from '../validator.ts';
import type { Scope } from '../validator.ts';
import { validateContainers } from './containers.ts';
import { validateOverhead, validatePodResources } from './container-resources.ts';
import {
  validateGates,
  validateHostAliases,
  validatePreemption,
  validateResourceClaims,
  validateSystemName,
} from './pod-lists.ts';
import { validatePodAnnotations, validateProfilesMatch } from './pod-annotations.ts';
import type { PodScope } from './pod-scope.ts';
import { validateAffinity, validateSpread, validateTolerations } from './pod-scheduling.ts';
import { graceSecondsOf, validatePodSecurity } from './pod-security.ts';
import { validateVolumes } from './volumes.ts';

export interface PodSpecOptions {
  /** A pod itself, not a template. */
  readonly isPod: boolean;
  /** '' for templates: their pods have no name yet. */
  readonly podName: string;
  /** A pod that mirrors one that a node runs by itself. */
  readonly isStatic?: boolean;
  /** A controller gives each pod its host name: what the spec says of it is free. */
  readonly isNamedByController?: boolean;
}

export function validatePodSpec(
  spec: JsonObject,
  path: string,
  options: PodSpecOptions,
  scope: Scope,
): void {
  const pod: PodScope = {
    errors: scope.errors,
    isOn: scope.isOn,
    naming: scope.naming,
    spec,
    volumes: validateVolumes(spec, path, options, scope),
    hostNetwork: flagAt(spec, 'hostNetwork'),
    graceSeconds: graceSecondsOf(spec),
    osName: textAt(recordAt(spec, 'os'), 'name'),
    isPod: options.isPod,
  };
  validateResourceClaims(pod, path, { isStatic: options.isStatic === true });
  validateContainers(pod, path);
  if (pod.isOn('PodLevelResources')) validatePodResources(pod, path);
  validateLabels(recordAt(spec, 'nodeSelector'), `${path}.nodeSelector`, scope.errors);
  validatePodSecurity(pod, path);
  validateAffinity(recordAt(spec, 'affinity'), `${path}.affinity`, scope);
  validateDns(pod, path);
  validateGates(pod, path);
  validateSpread(spec, path, scope);
  validateHostnameOverride(pod, path);
  if (options.isNamedByController !== true) validateHostNames(pod, path);
  validateTolerations(recordsAt(spec, 'tolerations'), `${path}.tolerations`, scope);
  validateHostAliases(pod, path);
  validatePreemption(spec, path, scope.errors);
  validateOverhead(recordAt(spec, 'overhead'), `${path}.overhead`, scope);
  validateSystemName(pod, path);
}

const hostnameLengthMax = 64;

/** Its format is an option of the field. */
function validateHostnameOverride({ spec, errors }: PodScope, path: string): void {
  if (!isSet(spec, 'hostnameOverride')) return;
  const at = `${path}.hostnameOverride`;
  if (flagAt(spec, 'setHostnameAsFQDN')) {
    errors.forbidden(at, 'may not be specified when setHostnameAsFQDN is true');
  }
  if (flagAt(spec, 'hostNetwork')) {
    errors.forbidden(at, 'may not be specified when hostNetwork is true');
  }
  const isLong = Buffer.byteLength(textAt(spec, 'hostnameOverride')) > hostnameLengthMax;
  if (isLong) errors.tooLong(at, hostnameLengthMax);
}

function validateHostNames({ spec, errors }: PodScope, path: string): void {
  for (const name of ['hostname', 'subdomain']) {
    const text = textAt(spec, name);
    if (text !== '') errors.problems(`${path}.${name}`, text, dns1123LabelProblems(text));
  }
}

const nameserversMax = 3;
const searchesMax = 32;
const searchLettersMax = 2048;

function validateDns({ spec, errors }: PodScope, path: string): void {
  const config = recordAt(spec, 'dnsConfig');
  const isOwn = textAt(spec, 'dnsPolicy') === 'None';
  const where = `${path}.dnsConfig`;
  if (config === undefined) {
    if (isOwn) errors.required(where, 'must provide `dnsConfig` when `dnsPolicy` is None');
    return;
  }
  const servers = textsAt(config, 'nameservers');
  if (isOwn && servers.length === 0) {
    errors.required(
      `${where}.nameservers`,
      'must provide at least one DNS nameserver when `dnsPolicy` is None',
    );
    return;
  }
  if (servers.length > nameserversMax) {
    const detail = `must not have more than ${String(nameserversMax)} nameservers`;
    errors.invalid(`${where}.nameservers`, servers, detail);
  }
  for (const [at, server] of servers.entries()) {
    errors.problems(`${where}.nameservers[${String(at)}]`, server, ipProblems(server));
  }
  const searches = textsAt(config, 'searches');
  if (searches.length > searchesMax) {
    const detail = `must not have more than ${String(searchesMax)} search paths`;
    errors.invalid(`${where}.searches`, searches, detail);
  }
  if (searches.join(' ').length > searchLettersMax) {
    const detail =
      `must not have more than ${String(searchLettersMax)} ` +
      'characters (including spaces) in the search list';
    errors.invalid(`${where}.searches`, searches, detail);
  }
  for (const [at, search] of searches.entries()) {
    // A trailing dot and underscores are allowed in search paths; `.` alone is the root.
    const name = search.replace(/\.$/, '').replaceAll('_', 'a');
    if (name === '' && search !== '') continue;
    errors.problems(`${where}.searches[${String(at)}]`, search, dns1123SubdomainProblems(name));
  }
  for (const [at, option] of recordsAt(config, 'options').entries()) {
    if (textAt(option, 'name') !== '') continue;
    errors.required(`${where}.options[${String(at)}]`, 'must not be empty');
  }
}

type TemplateOptions = Pick<PodSpecOptions, 'isNamedByController'>;

/** A template for pods: labels and annotations, and what no template has. */
export function validatePodTemplate(
  template: JsonObject,
  path: string,
  scope: Scope,
  options: TemplateOptions = {},
): void {
  const { errors } = scope;
  const meta = recordAt(template, 'metadata');
  validateLabels(recordAt(meta, 'labels'), `${path}.labels`, errors);
  validateAnnotations(meta, `${path}.annotations`, scope);
  const spec = recordAt(template, 'spec') ?? {};
  const annotations = recordAt(meta, 'annotations');
  validatePodAnnotations({ annotations, spec, path: `${path}.annotations` }, scope);
  validatePodSpec(spec, `${path}.spec`, { isPod: false, podName: '', ...options }, scope);
  validateProfilesMatch({ annotations, spec }, `${path}.spec`, scope);
  if (recordsAt(spec, 'ephemeralContainers').length > 0) {
    errors.forbidden(
      `${path}.spec.ephemeralContainers`,
      'ephemeral containers not allowed in pod template',
    );
  }
}

function validateAnnotations(meta: JsonObject | undefined, path: string, { errors }: Scope): void {
  for (const [key] of entriesAt(meta, 'annotations')) {
    errors.problems(path, key, qualifiedNameProblems(key.toLowerCase()));
  }
  if (mapBytes(meta, 'annotations') > limits.annotationBytesMax) {
    errors.tooLong(path, limits.annotationBytesMax);
  }
}

/** Pods that a controller, `owner`, keeps running. */
export function validateRunningPods(
  template: JsonObject,
  path: string,
  owner: string,
  { errors }: Scope,
): void {
  const pod = recordAt(template, 'spec');
  const policy = textAt(pod, 'restartPolicy');
  if (policy !== 'Always' && policy !== '') {
    errors.notSupported(`${path}.spec.restartPolicy`, policy, ['Always']);
  }
  if (isSet(pod, 'activeDeadlineSeconds')) {
    const detail = `activeDeadlineSeconds in ${owner} is not Supported`;
    errors.forbidden(`${path}.spec.activeDeadlineSeconds`, detail);
  }
}
