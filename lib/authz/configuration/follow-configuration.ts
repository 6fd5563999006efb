// Keeps authorizers as the file of --authorization-config says. A file that cannot be used changes
// nothing: the log and the metrics tell of it.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { FollowedFile } from '../../config/followed-file.ts';
import type { OnReload } from '../../config/followed-file.ts';
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
  const failed = (error: unknown): void => {
    onReload('failure');
    const problem = Error.isError(error) ? error.message : String(error);
    logger.error('the authorization configuration cannot be used, the last one stays', {
      file,
      problem,
    });
  };
  const followed = new FollowedFile(file, {
    clock,
    text,
    failed,
    async changed(changed) {
      try {
        if (!(await authorizer.replace(readAuthorizationConfiguration(changed, parts)))) return;
      } catch (error) {
        failed(error);
        return;
      }
      onReload({ text: changed });
      logger.info('the authorization configuration has changed and is in use', { file });
    },
  });
  // It may have changed since it was read.
  void followed.look();
  return followed;
}
