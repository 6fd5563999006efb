// Keeps authorizers as the file of --authorization-config says. A file that cannot be used changes
// nothing: the log and the metrics tell of it.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { FollowedFile } from '../../config/followed-file.ts';
import type { OnReload } from '../../config/followed-source.ts';
import { readAuthorizationConfiguration } from './configuration.ts';
import type { ConfigurationParts } from './configuration.ts';
import type { SwitchedAuthorizer } from './switched-authorizer.ts';

export interface FollowingParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly parts: ConfigurationParts;
  readonly onReload: OnReload;
}

/** Until it is closed. */
export function followConfiguration(
  authorizer: SwitchedAuthorizer,
  { path: file, text }: { readonly path: string; readonly text: string },
  { clock, logger, parts, onReload }: FollowingParts,
): FollowedFile {
  const followed = new FollowedFile(file, {
    clock,
    text,
    failed({ message: problem }) {
      onReload('failure');
      const message = 'the authorization configuration cannot be used, the last one stays';
      logger.error(message, { file, problem });
    },
    async changed(changed) {
      if (!(await authorizer.replace(readAuthorizationConfiguration(changed, parts)))) return;
      onReload({ text: changed });
      logger.info('the authorization configuration has changed and is in use', { file });
    },
  });
  // It may have changed since it was read.
  void followed.look();
  return followed;
}
