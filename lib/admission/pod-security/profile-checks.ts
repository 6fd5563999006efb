// Checks of what confines processes: profiles of AppArmor and seccomp, options of SELinux.
import { isSet, recordAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { seccompKey, seccompKeyPrefix } from '../../kinds/core/pod-annotations.ts';
import { armorKeyPrefix } from '../../kinds/core/pod-armor.ts';
import { containersOf, contextOf, nameOf, named, namesWhere, nounOf, quoted } from './check.ts';
import { settersText, sortedOnce, unlessWindows } from './check.ts';
import type { Check, CheckedPod, PodCheck } from './check.ts';

type Context = JsonObject | undefined;
type Annotation = readonly [key: string, value: string];

const confined: ReadonlySet<string> = new Set(['RuntimeDefault', 'Localhost']);

const isLax = (context: Context, profile: string): boolean => {
  const given = recordAt(context, profile);
  return given !== undefined && !confined.has(textAt(given, 'type'));
};

/** Types of the profiles that confine nothing, of the pod and its containers. */
const laxTypes = (pod: CheckedPod, profile: string): readonly string[] =>
  sortedOnce(
    [pod.spec, ...containersOf(pod)]
      .map(contextOf)
      .filter((context) => isLax(context, profile))
      .map((context) => textAt(recordAt(context, profile), 'type')),
  );

const laxSetters = (pod: CheckedPod, profile: string): string | undefined =>
  settersText(
    isLax(contextOf(pod.spec), profile),
    namesWhere(pod, (context) => isLax(context, profile)),
  );

const shownAnnotations = (annotations: readonly Annotation[]): readonly string[] =>
  sortedOnce(annotations.map(([key, value]) => `${key}=${JSON.stringify(value)}`));

const isLocalhost = (profile: string): boolean => profile.startsWith('localhost/');

const isLaxArmor = (profile: string): boolean =>
  profile !== '' && profile !== 'runtime/default' && !isLocalhost(profile);

const hasLaxArmor: PodCheck = (pod) => {
  const { annotations, naming } = pod;
  const prefix = armorKeyPrefix(naming);
  const wrong = Object.keys(annotations)
    .filter((key) => key.startsWith(prefix))
    .map((key): Annotation => [key, textAt(annotations, key)])
    .filter(([, profile]) => isLaxArmor(profile));
  const fields = laxSetters(pod, 'appArmorProfile');
  const setters = fields === undefined ? [] : [fields];
  if (wrong.length > 0) setters.push(nounOf('annotation', wrong));
  if (setters.length === 0) return undefined;
  const found = [...laxTypes(pod, 'appArmorProfile'), ...shownAnnotations(wrong)];
  return {
    reason: nounOf('forbidden AppArmor profile', found),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(found)}`,
  };
};

const isLaxSeccomp = (profile: string): boolean =>
  profile !== 'runtime/default' && profile !== 'docker/default' && !isLocalhost(profile);

/** As it was asked for before v1.19. */
const hasLaxSeccompAnnotation: PodCheck = (pod) => {
  const { annotations, naming } = pod;
  const prefix = seccompKeyPrefix(naming);
  const keys = [seccompKey(naming), ...containersOf(pod).map((one) => prefix + nameOf(one))];
  const wrong = keys
    .filter((key) => Object.hasOwn(annotations, key))
    .map((key): Annotation => [key, textAt(annotations, key)])
    .filter(([, profile]) => isLaxSeccomp(profile));
  if (wrong.length === 0) return undefined;
  const found = shownAnnotations(wrong);
  const detail = `forbidden ${nounOf('annotation', found)} ${found.join(', ')}`;
  return { reason: 'seccompProfile', detail };
};

const hasLaxSeccomp: PodCheck = (pod) => {
  const setters = laxSetters(pod, 'seccompProfile');
  if (setters === undefined) return undefined;
  const types = quoted(laxTypes(pod, 'seccompProfile'));
  return {
    reason: 'seccompProfile',
    detail: `${setters} must not set securityContext.seccompProfile.type to ${types}`,
  };
};

/** A profile is a must, the pod's or the container's own. */
const lacksSeccomp: PodCheck = (pod) => {
  const lax = hasLaxSeccomp(pod);
  if (lax !== undefined || isSet(contextOf(pod.spec), 'seccompProfile')) return lax;
  const names = namesWhere(pod, (context) => !isSet(context, 'seccompProfile'));
  if (names.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail:
      `pod or ${named('container', names)} must set securityContext.seccompProfile.type ` +
      'to "RuntimeDefault" or "Localhost"',
  };
};

const usualTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

const hasOtherOptions = (types: readonly string[]): PodCheck => {
  const allowed: ReadonlySet<string> = new Set(types);
  const optionsOf = (context: Context): Context => recordAt(context, 'seLinuxOptions');
  const isOther = (context: Context): boolean => {
    const options = optionsOf(context);
    const isType = allowed.has(textAt(options, 'type'));
    return !isType || textAt(options, 'user') !== '' || textAt(options, 'role') !== '';
  };
  return (pod) => {
    const setters = settersText(isOther(contextOf(pod.spec)), namesWhere(pod, isOther));
    if (setters === undefined) return undefined;
    const all = [pod.spec, ...containersOf(pod)].map((one) => optionsOf(contextOf(one)));
    const given = (member: string): string[] => all.map((options) => textAt(options, member));
    const wrong = sortedOnce(given('type').filter((type) => !allowed.has(type)));
    const details = wrong.length === 0 ? [] : [named('type', wrong)];
    for (const member of ['user', 'role']) {
      if (given(member).some((value) => value !== '')) details.push(`${member} may not be set`);
    }
    const detail = `${setters} set forbidden securityContext.seLinuxOptions: ${details.join('; ')}`;
    return { reason: 'seLinuxOptions', detail };
  };
};

export const profileChecks: readonly Check[] = [
  { id: 'appArmorProfile', level: 'baseline', versions: [{ since: 0, check: hasLaxArmor }] },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    versions: [
      { since: 0, check: hasOtherOptions(usualTypes) },
      { since: 31, check: hasOtherOptions([...usualTypes, 'container_engine_t']) },
    ],
  },
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [
      { since: 0, check: hasLaxSeccompAnnotation },
      { since: 19, check: hasLaxSeccomp },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    versions: [
      { since: 19, check: lacksSeccomp },
      { since: 25, check: unlessWindows(lacksSeccomp) },
    ],
    overrides: 'seccompProfile_baseline',
  },
];
