// PodSecurity: pods meet the standard that the labels of their namespace enforce; what else the
// labels ask for is told to the writer, of pods and of what makes pods, or put into the audit
// event. Labels are valid, and who makes a namespace stricter hears which of its pods are not.
import type { NamingProfile } from '../../api/vendor.ts';
import { isSet, recordIn } from '../../api/json-access.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import type { Clock } from '../../base/clock.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { fieldErrorMessage, forbidden, invalid, notFound } from '../../base/status.ts';
import type { FieldError } from '../../base/status.ts';
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { CheckedPod, Violation } from '../pod-security/check.ts';
import { parsePodSecurityConfiguration } from '../pod-security/configuration.ts';
import type { PodSecurityConfiguration } from '../pod-security/configuration.ts';
import { violationsOf, violationsText } from '../pod-security/evaluate.ts';
import { warningsOfExisting } from '../pod-security/existing-pods.ts';
import type { ExistingPods } from '../pod-security/existing-pods.ts';
import { hasPods, isSignificant, podOf, runtimeClassOf } from '../pod-security/pods-of.ts';
import type { PodSecurityObserver } from '../pod-security/observer.ts';
import { askedPolicy, isSame, isStricter, laxestPolicy } from '../pod-security/policy.ts';
import { modes, podSecurityKeys, policyText, unknownPolicy } from '../pod-security/policy.ts';
import type { AskedPolicy, LevelVersion, Mode, Policy } from '../pod-security/policy.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

export interface PodSecurityOptions {
  readonly namespaces: Pick<ResourceView, 'peek'>;
  /** Reads a namespace in the store itself, past the memory. */
  readonly lookUp: (name: string, signal: AbortSignal) => Promise<Item | undefined>;
  readonly pods: Pick<ResourceView, 'list'>;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly configuration: PodSecurityConfiguration;
  readonly observer: PodSecurityObserver;
}

const name = 'PodSecurity';

/** @throws Error for a configuration that is wrong. */
export function podSecurity(
  parts: Pick<
    PluginParts,
    'objects' | 'naming' | 'clock' | 'configurationOf' | 'podSecurityObserver'
  >,
): AdmissionPlugin | undefined {
  const { naming, clock, podSecurityObserver: observer } = parts;
  const [namespaces, pods] = [parts.objects('', 'namespaces'), parts.objects('', 'pods')];
  if (namespaces === undefined || pods === undefined) return undefined;
  return podSecurityPlugin({
    namespaces: namespaces.view,
    lookUp: (of, signal) => namespaces.lookUp({ namespace: '', name: of }, signal),
    pods: pods.view,
    naming,
    clock,
    configuration: parsePodSecurityConfiguration(parts.configurationOf(name), naming),
    observer,
  });
}

export function podSecurityPlugin(options: PodSecurityOptions): AdmissionPlugin {
  const { namespaces, lookUp } = options;
  return {
    name,
    sideEffects: false,
    handles: ({ operation, resource, subresource }) => {
      if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
      if (isPods(resource)) return !ignoredSubresources.has(subresource);
      return subresource === '' && (isNamespaces(resource) || hasPods(resource));
    },
    validate(request, object, signal) {
      if (object === undefined) return;
      if (isNamespaces(request.resource)) {
        return reviewNamespace(options, request, object, signal);
      }
      const exemption = exemptionOf(options.configuration, request);
      if (exemption !== undefined) {
        exempt(options, request, exemption);
        return;
      }
      const known = namespaces.peek({ namespace: '', name: request.namespace });
      if (known !== undefined) {
        reviewPods(options, request, object, known);
        return;
      }
      return reviewLater(options, request, object, lookUp(request.namespace, signal));
    },
  };
}

type Resource = AdmissionRequest['resource'];
type Stored = Readonly<ApiObject>;

const namespacesRef = { group: '', resource: 'namespaces' };
const isIn = (resource: Resource, name: string): boolean =>
  resource.group === '' && resource.resource === name;
const isPods = (resource: Resource): boolean => isIn(resource, 'pods');
const isNamespaces = (resource: Resource): boolean => isIn(resource, namespacesRef.resource);

/** Of pods: what changes nothing that containers are. */
const ignoredSubresources: ReadonlySet<string> = new Set([
  'attach',
  'binding',
  'eviction',
  'exec',
  'log',
  'portforward',
  'proxy',
  'status',
]);

type Exemption = 'namespace' | 'user' | 'runtimeClass';

/** By where and by whom. */
function exemptionOf(
  { exemptions }: PodSecurityConfiguration,
  { namespace, user }: AdmissionRequest,
): Exemption | undefined {
  if (exemptions.namespaces.has(namespace)) return 'namespace';
  return exemptions.usernames.has(user.name) ? 'user' : undefined;
}

function exempt(
  { naming, observer }: PodSecurityOptions,
  request: AdmissionRequest,
  reason: Exemption,
): void {
  observer.onExemption(request);
  request.annotate(podSecurityKeys(naming).exempt, reason);
}

async function reviewLater(
  options: PodSecurityOptions,
  request: AdmissionRequest,
  object: Stored,
  found: Promise<Item | undefined>,
): Promise<void> {
  const namespace = await found;
  if (namespace !== undefined) {
    reviewPods(options, request, object, namespace);
    return;
  }
  options.observer.onError(request, true);
  const { error } = podSecurityKeys(options.naming);
  request.annotate(error, `failed to lookup namespace ${request.namespace}`);
  if (isPods(request.resource)) throw notFound(namespacesRef, request.namespace);
}

/** @throws StatusError 403 */
function reviewPods(
  options: PodSecurityOptions,
  request: AdmissionRequest,
  object: Stored,
  namespace: Item,
): void {
  const { configuration, naming, observer } = options;
  const asked = askedBy(options, namespace);
  const { enforce, audit, warn } = asked.policy;
  const isEnforced = isPods(request.resource);
  const isToldNothing = audit.level === 'privileged' && warn.level === 'privileged';
  if (asked.problems.length === 0 && isToldNothing) {
    if (!isEnforced) return;
    if (enforce.level === 'privileged') {
      observer.onEvaluation(request, 'enforce', enforce, 'allow');
      request.annotate(podSecurityKeys(naming).enforcePolicy, laxestText);
      return;
    }
  }
  const pod = podOf(request.resource, object, naming);
  if (pod === undefined) return;
  if (isEnforced && request.operation === 'UPDATE' && request.old !== undefined) {
    const old = podOf(request.resource, request.old, naming);
    if (old !== undefined && !isSignificant(pod, old)) return;
  }
  if (configuration.exemptions.runtimeClasses.has(runtimeClassOf(pod))) {
    exempt(options, request, 'runtimeClass');
    return;
  }
  if (asked.problems.length > 0) {
    observer.onError(request, false);
    const text = `Failed to parse policy: ${problemsText(asked.problems)}`;
    request.annotate(podSecurityKeys(naming).error, text);
  }
  evaluate(options, request, pod, { asked, isEnforced });
}

const laxestText = policyText(laxestPolicy.enforce);

/** What cannot be read may ask for anything. */
function askedBy({ configuration, naming }: PodSecurityOptions, namespace: Item): AskedPolicy {
  if (!namespace.corrupted) return askedPolicy(namespace.labels, configuration.defaults, naming);
  const detail = 'the namespace cannot be read';
  const problem = { reason: 'InternalError', field: 'metadata.labels', detail } as const;
  return { policy: unknownPolicy, problems: [problem] };
}

const problemsText = (problems: readonly FieldError[]): string =>
  aggregateText(problems.map((problem) => `${problem.field}: ${fieldErrorMessage(problem)}`));

/** @throws StatusError 403 */
function evaluate(
  { naming, observer }: PodSecurityOptions,
  request: AdmissionRequest,
  pod: CheckedPod,
  { asked, isEnforced }: { readonly asked: AskedPolicy; readonly isEnforced: boolean },
): void {
  const { enforce, audit, warn } = asked.policy;
  const keys = podSecurityKeys(naming);
  const known = new Map<string, readonly Violation[]>();
  /** Each standard is looked at once, whatever for. */
  const violatedBy = (policy: LevelVersion): string | undefined => {
    const name = policyText(policy);
    let violations = known.get(name);
    if (violations === undefined) known.set(name, (violations = violationsOf(pod, policy)));
    if (violations.length === 0) return undefined;
    return `PodSecurity ${JSON.stringify(name)}: ${violationsText(violations)}`;
  };
  let refusal: string | undefined;
  if (isEnforced) {
    request.annotate(keys.enforcePolicy, policyText(enforce));
    refusal = violatedBy(enforce);
    observer.onEvaluation(request, 'enforce', enforce, refusal === undefined ? 'allow' : 'deny');
  }
  const audited = violatedBy(audit);
  if (audited !== undefined) {
    request.annotate(keys.auditViolations, `would violate ${audited}`);
    observer.onEvaluation(request, 'audit', audit, 'deny');
  }
  if (refusal !== undefined) {
    throw forbidden(request.resource, request.name, `violates ${refusal}`);
  }
  const warned = violatedBy(warn);
  if (warned === undefined) return;
  request.warn(`would violate ${warned}`);
  observer.onEvaluation(request, 'warn', warn, 'deny');
}

/** @throws StatusError 422 for labels that say nothing, and did not before. */
function reviewNamespace(
  options: PodSecurityOptions,
  request: AdmissionRequest,
  object: Stored,
  signal: AbortSignal,
): MaybePromise<void> {
  const { naming, configuration } = options;
  const askedIn = (namespace: Stored): AskedPolicy =>
    askedPolicy(recordIn(namespace, 'metadata', 'labels'), configuration.defaults, naming);
  const { policy, problems } = askedIn(object);
  const before = request.old === undefined ? undefined : askedIn(request.old);
  if (problems.length > 0) {
    const isNew = before === undefined || problemsText(problems) !== problemsText(before.problems);
    if (isNew) throw invalid(request.resource.kind, request.name, problems);
  }
  const { enforce } = policy;
  if (before !== undefined && !isTightened(before.policy.enforce, enforce)) return;
  if (configuration.exemptions.namespaces.has(request.name)) {
    warnOfExemption(options, request, object, policy);
    if (before !== undefined) request.annotate(podSecurityKeys(naming).exempt, 'namespace');
    return;
  }
  if (before !== undefined) return warnOfExisting(options, request, enforce, signal);
}

/** Pods that were admitted may not meet what is enforced now. */
function isTightened(before: LevelVersion, now: LevelVersion): boolean {
  if (isSame(now, before) || now.level === 'privileged') return false;
  return now.version !== before.version || isStricter(now.level, before.level);
}

/** Who labels a namespace that is exempt hears that the labels mean nothing. */
function warnOfExemption(
  { naming, configuration }: PodSecurityOptions,
  request: AdmissionRequest,
  object: Stored,
  policy: Policy,
): void {
  const means = (mode: Mode): boolean => policy[mode].level !== 'privileged';
  if (!modes.some((mode) => isOther(policy[mode], configuration.defaults[mode]))) return;
  if (!modes.some(means)) return;
  const labels = recordIn(object, 'metadata', 'labels');
  const shown = podSecurityKeys(naming)
    .labels.filter(({ mode, level, version }) => {
      return means(mode) && (isSet(labels, level) || isSet(labels, version));
    })
    .map(({ mode }) => `${mode}=${policyText(policy[mode])}`);
  const name = JSON.stringify(request.name);
  const ignored = `the policy (${shown.join(', ')}) will be ignored`;
  request.warn(`namespace ${name} is exempt from Pod Security, and ${ignored}`);
}

/** All versions of what allows everything are the same. */
const isOther = (one: LevelVersion, other: LevelVersion): boolean =>
  !isSame(one, other) && (one.level !== 'privileged' || other.level !== 'privileged');

async function warnOfExisting(
  { pods, naming, clock, configuration }: PodSecurityOptions,
  request: AdmissionRequest,
  enforce: LevelVersion,
  signal: AbortSignal,
): Promise<void> {
  const { runtimeClasses } = configuration.exemptions;
  const isExempt = (name: string): boolean => runtimeClasses.has(name);
  const existing: ExistingPods = { pods, naming, clock, isExempt };
  const warnings = await warningsOfExisting(existing, request.name, enforce, signal);
  for (const warning of warnings) request.warn(warning);
}
