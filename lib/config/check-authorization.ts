// Which flags of authorization belong together or exclude each other.
import type { AuthorizationMode } from './authorization-flags.ts';
import { FlagError } from './flags.ts';
import type { Flags } from './flags.ts';

/** Flags that the configuration file stands for; its ABAC has its policies from their flag. */
const replaced = [
  'authorization-mode',
  'authorization-webhook-config-file',
  'authorization-webhook-version',
  'authorization-webhook-cache-authorized-ttl',
  'authorization-webhook-cache-unauthorized-ttl',
] as const satisfies readonly (keyof Flags)[];

const neededFiles: readonly (readonly [AuthorizationMode, keyof Flags])[] = [
  ['ABAC', 'authorization-policy-file'],
  ['Webhook', 'authorization-webhook-config-file'],
];

/**
 * @param given names that the command line gave
 * @throws FlagError
 */
export function checkAuthorizationFlags(
  flags: Flags,
  given: Pick<ReadonlySet<string>, 'has'>,
): void {
  if (flags['authorization-config'] !== undefined) {
    const other = replaced.find((name) => given.has(name));
    if (other === undefined) return;
    throw new FlagError(
      `--authorization-config says who decides, all of them: leave out --${other}`,
    );
  }
  const modes = flags['authorization-mode'];
  for (const [mode, file] of neededFiles) {
    const hasFile = flags[file] !== undefined;
    if (modes.includes(mode) && !hasFile) {
      throw new FlagError(`--authorization-mode=${modes.join(',')}: ${mode} needs --${file}`);
    }
    if (!modes.includes(mode) && hasFile) {
      throw new FlagError(`--${file} is for the mode ${mode}: add it to --authorization-mode`);
    }
  }
}
