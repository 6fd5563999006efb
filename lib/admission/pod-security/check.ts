// The contract of a check of the standards, and what checks share: a pure function from a pod, or
// the template of one, to what is wrong with it.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { containerLists } from '../../kinds/core/pod-systems.ts';
import type { MinorVersion } from './policy.ts';

/** A pod, or a template of pods. */
export interface CheckedPod {
  readonly annotations: Readonly<JsonObject>;
  readonly spec: Readonly<JsonObject>;
  readonly naming: NamingProfile;
}

export interface Violation {
  /** Few words, the same for every pod: `host namespaces`. */
  readonly reason: string;
  /** What of this pod it is: `hostPID=true`. */
  readonly detail: string;
}

/** undefined: the pod is fine. */
export type PodCheck = (pod: CheckedPod) => Violation | undefined;

export interface Check {
  /** Violations of one standard are listed in the order of these. */
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** Each holds from its version until the next one; ascending. */
  readonly versions: readonly { readonly since: MinorVersion; readonly check: PodCheck }[];
  /** The check of the baseline that this one is stricter than, and takes the place of. */
  readonly overrides?: string;
}

/** All containers of a pod, in the order in which they are named to users. */
export const containersOf = ({ spec }: CheckedPod): readonly JsonObject[] =>
  containerLists.flatMap((list) => recordsAt(spec, list));

export const contextOf = (of: Readonly<JsonObject>): JsonObject | undefined =>
  recordAt(of, 'securityContext');

export const nameOf = (of: Readonly<JsonObject>): string => textAt(of, 'name');

/** Names of the containers of which something holds. */
export const namesWhere = (
  pod: CheckedPod,
  holds: (context: JsonObject | undefined, container: JsonObject) => boolean,
): readonly string[] =>
  containersOf(pod)
    .filter((container) => holds(contextOf(container), container))
    .map(nameOf);

/** `"a", "b"`. */
export const quoted = (texts: Iterable<string>): string => `"${[...texts].join('", "')}"`;

/** Each once, in the order of their characters. */
export const sortedOnce = (texts: Iterable<string>): readonly string[] =>
  [...new Set(texts)].sort();

/** The noun in the number of the texts, and the texts: `containers "a", "b"`. */
export const named = (noun: string, texts: readonly string[]): string =>
  `${nounOf(noun, texts)} ${quoted(texts)}`;

export const nounOf = (noun: string, of: { readonly length: number }): string =>
  of.length === 1 ? noun : `${noun}s`;

/** Who said something wrong: `pod and containers "a", "b"`; undefined: nobody. */
export function settersText(isPod: boolean, containers: readonly string[]): string | undefined {
  const setters = isPod ? ['pod'] : [];
  if (containers.length > 0) setters.push(named('container', containers));
  return setters.length === 0 ? undefined : setters.join(' and ');
}

/** From v1.25 on, checks of what Windows does not have leave its pods alone. */
export const unlessWindows =
  (check: PodCheck): PodCheck =>
  (pod) =>
    textAt(recordAt(pod.spec, 'os'), 'name') === 'windows' ? undefined : check(pod);

/** From v1.35 on: who is root in a user namespace is nobody on the node. */
export const unlessOwnUsers =
  (check: PodCheck): PodCheck =>
  (pod) =>
    pod.spec['hostUsers'] === false ? undefined : check(pod);
