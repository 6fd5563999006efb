// Which standard of which version a namespace asks for, by its labels: for what is refused
// (enforce), noted in the audit event (audit) and told to the writer (warn).
import { ofProfile } from '../../api/vendor.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { FieldError } from '../../base/status.ts';

/** The standards, the laxest first. */
const levels = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof levels)[number];

export const modes = ['enforce', 'audit', 'warn'] as const;
export type Mode = (typeof modes)[number];

/** Of `v1.x`: x. */
export type MinorVersion = number;
/** `latest`, which is newer than every other version. */
export const latest: MinorVersion = Infinity;

export interface LevelVersion {
  readonly level: Level;
  readonly version: MinorVersion;
}

export type Policy = Readonly<Record<Mode, LevelVersion>>;

const privileged: LevelVersion = { level: 'privileged', version: latest };

/** What is asked for where nobody asks for anything. */
export const laxestPolicy: Policy = { enforce: privileged, audit: privileged, warn: privileged };

/** Of namespaces that cannot be read: nobody knows what they ask for. */
export const unknownPolicy: Policy = {
  ...laxestPolicy,
  enforce: { level: 'restricted', version: latest },
};

export const levelProblem = `must be one of ${levels.join(', ')}`;
export const versionProblem = 'must be "latest" or "v1.x"';

/** undefined: there is no such standard. */
export const levelOf = (text: string): Level | undefined => levels.find((level) => level === text);

/** undefined: it is no version. */
export function versionOf(text: string): MinorVersion | undefined {
  if (text === 'latest') return latest;
  const minor = Number(/^v1\.(0|[1-9]\d*)$/.exec(text)?.[1] ?? NaN);
  return Number.isSafeInteger(minor) ? minor : undefined;
}

export const versionText = (version: MinorVersion): string =>
  version === latest ? 'latest' : `v1.${String(version)}`;

/** `restricted:v1.29`. */
export const policyText = ({ level, version }: LevelVersion): string =>
  `${level}:${versionText(version)}`;

export const isSame = (one: LevelVersion, other: LevelVersion): boolean =>
  one.level === other.level && one.version === other.version;

export const isStricter = (one: Level, other: Level): boolean =>
  levels.indexOf(one) > levels.indexOf(other);

/** Keys of the labels, and of what the audit event is told. */
export const podSecurityKeys = ofProfile((naming: NamingProfile) => {
  const prefix = naming.resolve('pod-security.{kubernetes}.io/');
  const labels = modes.map((mode) => ({
    mode,
    level: `${prefix}${mode}`,
    version: `${prefix}${mode}-version`,
  }));
  return {
    labels,
    enforcePolicy: `${prefix}enforce-policy`,
    auditViolations: `${prefix}audit-violations`,
    exempt: `${prefix}exempt`,
    error: `${prefix}error`,
  };
});

export interface AskedPolicy {
  readonly policy: Policy;
  /** Labels that say nothing meaningful, in the order of the modes. */
  readonly problems: readonly FieldError[];
}

const noProblems: readonly never[] = [];

/**
 * What labels leave open is as in `defaults`, but that what is enforced is warned of, too. A wrong
 * version counts as `latest`; a wrong standard enforces the strictest one, and neither audits nor
 * warns.
 */
export function askedPolicy(
  labels: Readonly<Record<string, unknown>> | undefined,
  defaults: Policy,
  naming: NamingProfile,
): AskedPolicy {
  let policy = defaults;
  let problems: FieldError[] | undefined;
  const refuse = (key: string, badValue: unknown, detail: string): void => {
    const field = `metadata.labels[${key}]`;
    (problems ??= []).push({ reason: 'FieldValueInvalid', field, badValue, detail });
  };
  if (labels === undefined) return { policy, problems: noProblems };
  let isEnforced = false;
  for (const keys of podSecurityKeys(naming).labels) {
    const { mode } = keys;
    const levelLabel = labels[keys.level];
    if (typeof levelLabel === 'string') {
      let level = levelOf(levelLabel);
      if (level === undefined) refuse(keys.level, levelLabel, levelProblem);
      else if (mode === 'enforce') isEnforced = true;
      level ??= mode === 'enforce' ? 'restricted' : 'privileged';
      policy = { ...policy, [mode]: { ...policy[mode], level } };
    } else if (mode === 'warn' && isEnforced) {
      const { enforce, warn } = policy;
      if (isStricter(enforce.level, warn.level)) policy = { ...policy, warn: enforce };
    }
    const versionLabel = labels[keys.version];
    if (typeof versionLabel === 'string') {
      const version = versionOf(versionLabel);
      if (version === undefined) refuse(keys.version, versionLabel, versionProblem);
      policy = { ...policy, [mode]: { ...policy[mode], version: version ?? latest } };
    }
  }
  return { policy, problems: problems ?? noProblems };
}
