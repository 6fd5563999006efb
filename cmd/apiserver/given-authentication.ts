// What flags and the file of `--authentication-config` say of tokens and anonymous requests: read
// and checked before anything is started.
import { readFileSync } from 'node:fs';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import { anonymousRule } from '../../lib/authn/anonymous.ts';
import type { AllowsAnonymous } from '../../lib/authn/anonymous.ts';
import { readAuthenticationConfiguration } from '../../lib/authn/jwt/configuration.ts';
import type { FollowedConfiguration } from '../../lib/authn/jwt/follow-configuration.ts';
import { oidcConfiguration } from '../../lib/authn/jwt/oidc-flags.ts';
import { compileConfiguration, compileJwt } from '../../lib/authn/jwt/validate.ts';
import type { CompiledJwt, ValidationContext } from '../../lib/authn/jwt/validate.ts';
import type { Logger } from '../../lib/base/log.ts';
import { signingAlgorithms } from '../../lib/config/authentication-flags.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';
import type { FeatureGates } from '../../lib/config/gates.ts';
import { orFileError } from './file-problem.ts';
import { orFlagError } from './from-flags.ts';
import type { GivenFiles } from './given-files.ts';

export interface GivenAuthentication {
  /** Algorithms of signatures that tokens may have. */
  readonly algorithms: readonly string[];
  /** undefined: issuers are those of flags, and do not change. */
  readonly followed: FollowedConfiguration | undefined;
  readonly allowsAnonymous: AllowsAnonymous;
  /** What else they are checked with. */
  contextOf(disallowedIssuers: readonly string[]): ValidationContext;
  /** @throws FlagError */
  compile(context: ValidationContext): readonly CompiledJwt[];
}

interface Given {
  readonly flags: Flags;
  readonly givenFlags: ReadonlySet<string>;
  readonly files: GivenFiles;
  readonly naming: NamingProfile;
  readonly gates: FeatureGates;
  readonly logger: Logger;
}

/** @throws FlagError for what is wrong with the file or the flags. */
export function readGivenAuthentication(given: Given): GivenAuthentication {
  const { flags, files, naming, gates } = given;
  const followed = readFollowed(flags, naming);
  const made: GivenAuthentication = {
    algorithms: followed === undefined ? flags['oidc-signing-algs'] : signingAlgorithms,
    followed,
    allowsAnonymous: anonymousOf(given, followed),
    contextOf: (disallowedIssuers) => ({
      naming,
      disallowedIssuers,
      hasEgressSelector: gates.isOn('StructuredAuthenticationConfigurationEgressSelector'),
    }),
    compile(context) {
      if (followed !== undefined) {
        return orFileError('authentication-config', followed.path, () =>
          compileConfiguration(followed.configuration, context),
        );
      }
      if (flags['oidc-issuer-url'] === undefined) return [];
      return orFlagError('oidc-issuer-url', () => [
        compileJwt(oidcConfiguration(flags, files.oidcCa), context),
      ]);
    },
  };
  made.compile(made.contextOf(flags['service-account-issuer'] ?? []));
  return made;
}

function readFollowed(flags: Flags, naming: NamingProfile): FollowedConfiguration | undefined {
  const path = flags['authentication-config'];
  if (path === undefined) return undefined;
  return orFileError('authentication-config', path, () => {
    const text = readFileSync(path, 'utf8');
    return { path, text, configuration: readAuthenticationConfiguration(text, naming) };
  });
}

function anonymousOf(
  { flags, givenFlags, logger }: Given,
  followed: FollowedConfiguration | undefined,
): AllowsAnonymous {
  const anonymous = followed?.configuration.anonymous;
  if (anonymous !== undefined) {
    if (!givenFlags.has('anonymous-auth')) return anonymousRule(anonymous);
    throw new FlagError(
      '--anonymous-auth cannot be set when anonymous is configured in the file of ' +
        '--authentication-config',
    );
  }
  const isOpen = flags['authorization-mode'].includes('AlwaysAllow');
  const enabled = flags['anonymous-auth'] && !isOpen;
  if (flags['anonymous-auth'] && isOpen) {
    logger.warn('--anonymous-auth is off: AlwaysAllow is among the modes of authorization');
  }
  return anonymousRule({ enabled, conditions: [] });
}
