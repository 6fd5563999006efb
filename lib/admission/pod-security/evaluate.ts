// What of a pod violates a standard, by the checks that the standard has in a version. Pure: it
// looks at nothing but the pod.
import { invariant } from '../../base/invariant.ts';
import { hostChecks } from './host-checks.ts';
import { kernelChecks } from './kernel-checks.ts';
import type { Check, CheckedPod, PodCheck, Violation } from './check.ts';
import type { Level, LevelVersion, MinorVersion } from './policy.ts';
import { privilegeChecks } from './privilege-checks.ts';
import { profileChecks } from './profile-checks.ts';
import { userChecks } from './user-checks.ts';
import { volumeChecks } from './volume-checks.ts';

/** Those of the baseline first, each standard's in the order of their ids. */
export const checks: readonly Check[] = [
  ...hostChecks,
  ...kernelChecks,
  ...privilegeChecks,
  ...profileChecks,
  ...userChecks,
  ...volumeChecks,
].sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));

function orderOf({ level, id }: Check): string {
  return `${level}/${id}`;
}

/** The last version that changed a check: later ones are like it. */
const newest = Math.max(...checks.flatMap(({ versions }) => versions.map(({ since }) => since)));

type ChecksByVersion = readonly (readonly PodCheck[])[];

const versions = Array.from({ length: newest + 1 }, (_, version) => version);
const checksOf: Readonly<Record<Level, ChecksByVersion>> = {
  privileged: versions.map(() => []),
  baseline: versions.map((version) =>
    inVersion(
      checks.filter(({ level }) => level === 'baseline'),
      version,
    ),
  ),
  restricted: versions.map(restrictedIn),
};

function restrictedIn(version: MinorVersion): readonly PodCheck[] {
  const present = checks.filter(({ versions: [first] }) => (first?.since ?? 0) <= version);
  const overridden = new Set(present.map(({ overrides }) => overrides));
  const left = present.filter(({ id }) => !overridden.has(id));
  return inVersion(left, version);
}

function inVersion(of: readonly Check[], version: MinorVersion): readonly PodCheck[] {
  return of
    .map((check) => check.versions.findLast(({ since }) => since <= version)?.check)
    .filter((check) => check !== undefined);
}

/** Empty: the pod meets the standard. */
export function violationsOf(
  pod: CheckedPod,
  { level, version }: LevelVersion,
): readonly Violation[] {
  const inForce = checksOf[level][Math.min(version, newest)];
  invariant(inForce !== undefined, 'every version has its checks');
  const found: Violation[] = [];
  for (const check of inForce) {
    const violation = check(pod);
    if (violation !== undefined) found.push(violation);
  }
  return found;
}

/** `hostPort (container "a" uses hostPort 80), privileged (…)` */
export const violationsText = (violations: readonly Violation[]): string =>
  violations
    .map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`))
    .join(', ');

/** `hostPort, privileged` */
export const reasonsText = (violations: readonly Violation[]): string =>
  violations.map(({ reason }) => reason).join(', ');
