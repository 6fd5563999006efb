// Who decides, as flags and their files say: read and checked before anything is started.
import { readFileSync } from 'node:fs';
import { readAuthorizationConfiguration } from '../../lib/authz/configuration/configuration.ts';
import type {
  AuthorizerConfig,
  ConfigurationParts,
} from '../../lib/authz/configuration/configuration.ts';
import { parsePolicyFile } from '../../lib/authz/abac/policy-file.ts';
import type { Policy } from '../../lib/authz/abac/policy-file.ts';
import { conditionEnvironment } from '../../lib/authz/webhook/match-conditions.ts';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import { limits } from '../../lib/base/limits.ts';
import { readKubeconfig } from '../../lib/client/kubeconfig-files.ts';
import { makeSettings } from '../../lib/client/target-settings.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';
import { parseClientConfig } from './client-parts.ts';
import { fileError, orFileError } from './file-problem.ts';

export interface GivenAuthorization {
  readonly authorizers: readonly AuthorizerConfig[];
  /** Of --authorization-config; undefined without the flag. */
  readonly file: { readonly path: string; readonly text: string } | undefined;
  /** What reads that file again. */
  readonly parts: ConfigurationParts;
  /** Of --authorization-policy-file. */
  readonly policies: readonly Policy[];
  /** Lines for the log. */
  readonly notes: readonly string[];
}

/** @throws FlagError for a file that cannot be read, or does not hold what its flag says. */
export function givenAuthorization(flags: Flags, naming: NamingProfile): GivenAuthorization {
  const parts = { naming, environment: conditionEnvironment(naming) };
  const file = given(flags, 'authorization-config', (text, path) => ({ text, path }));
  const authorizers =
    given(flags, 'authorization-config', (text) => readAuthorizationConfiguration(text, parts)) ??
    authorizersOf(flags);
  const policyFile = given(flags, 'authorization-policy-file', (text) =>
    parsePolicyFile(text, naming),
  );
  checkPolicyFile(authorizers, flags);
  const unversioned = policyFile?.unversionedCount ?? 0;
  const notes =
    unversioned === 0
      ? []
      : [
          `--authorization-policy-file=${flags['authorization-policy-file'] ?? ''}: ` +
            `${String(unversioned)} lines have neither kind nor version: they are of a form that ` +
            'is long out of date',
        ];
  return { authorizers, file, parts, policies: policyFile?.policies ?? [], notes };
}

type FileFlag = 'authorization-config' | 'authorization-policy-file';

function given<T>(
  flags: Flags,
  flag: FileFlag,
  read: (text: string, path: string) => T,
): T | undefined {
  const path = flags[flag];
  return path === undefined
    ? undefined
    : orFileError(flag, path, () => read(readFileSync(path, 'utf8'), path));
}

/** Modes as a file would have them; a webhook of flags is called `default`, as upstream. */
const authorizersOf = (flags: Flags): readonly AuthorizerConfig[] =>
  flags['authorization-mode'].map((type) =>
    type === 'Webhook'
      ? {
          type,
          name: 'default',
          webhook: {
            kubeconfigFile: flags['authorization-webhook-config-file'] ?? '',
            timeoutMs: limits.authorizationWebhookTimeoutMs,
            authorizedTtlMs: flags['authorization-webhook-cache-authorized-ttl'],
            unauthorizedTtlMs: flags['authorization-webhook-cache-unauthorized-ttl'],
            version: flags['authorization-webhook-version'],
            failurePolicy: 'NoOpinion',
            expressions: [],
          },
        }
      : { type, name: type.toLowerCase() },
  );

/** With a configuration file, the flag of policies belongs to its ABAC. */
function checkPolicyFile(authorizers: readonly AuthorizerConfig[], flags: Flags): void {
  const { 'authorization-config': config, 'authorization-policy-file': policies } = flags;
  if (config === undefined) return;
  const hasAbac = authorizers.some(({ type }) => type === 'ABAC');
  if (hasAbac === (policies !== undefined)) return;
  throw new FlagError(
    hasAbac
      ? `--authorization-config=${config}: ABAC needs --authorization-policy-file`
      : `--authorization-policy-file is for the type ABAC: add it to ${config}`,
  );
}

/** @throws FlagError for a webhook whose client configuration cannot be used. */
export async function checkWebhookFiles({ authorizers, file }: GivenAuthorization): Promise<void> {
  for (const { name, webhook } of authorizers) {
    if (webhook === undefined) continue;
    try {
      makeSettings((await readKubeconfig(webhook.kubeconfigFile, parseClientConfig)).source);
    } catch (error) {
      const { kubeconfigFile } = webhook;
      if (file === undefined) {
        throw fileError('authorization-webhook-config-file', kubeconfigFile, error);
      }
      const problem = `${name}: ${kubeconfigFile}: ${(error as Error).message}`;
      throw fileError('authorization-config', file.path, new Error(problem, { cause: error }));
    }
  }
}
