// Keeps the issuers in force as the configuration file says: a file that cannot be used changes
// nothing, and is told of. What it says of anonymous requests is fixed by the start.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { FollowedFile } from '../../config/followed-file.ts';
import type { OnReload } from '../../config/followed-source.ts';
import { readAuthenticationConfiguration } from './configuration.ts';
import type { AuthenticationConfiguration } from './configuration.ts';
import type { ReloadingJwt } from './reloading-jwt.ts';
import { compileConfiguration } from './validate.ts';
import type { CompiledJwt, ValidationContext } from './validate.ts';

export interface FollowedConfiguration {
  readonly path: string;
  /** What is in force. */
  readonly text: string;
  readonly configuration: AuthenticationConfiguration;
}

export interface FollowParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly context: ValidationContext;
  readonly onReload: OnReload;
}

export class ConfigurationFollower {
  readonly #jwt: ReloadingJwt;
  readonly #start: FollowedConfiguration;
  readonly #parts: FollowParts;
  readonly #file: FollowedFile;
  /** Ends the attempt under way. */
  #attempt = new AbortController();

  constructor(jwt: ReloadingJwt, start: FollowedConfiguration, parts: FollowParts) {
    this.#jwt = jwt;
    this.#start = start;
    this.#parts = parts;
    this.#file = new FollowedFile(start.path, {
      clock: parts.clock,
      text: start.text,
      changed: (text) => this.#changed(text),
      failed: (error) => this.#failed(error),
    });
  }

  close(): void {
    this.#file.close();
    this.#attempt.abort();
  }

  /** Resolves when the file as it is now was read; its new issuers may still be waited for. */
  look(): Promise<void> {
    return this.#file.look();
  }

  /** @throws Error with all that is wrong */
  #changed(text: string): void {
    this.#attempt.abort();
    this.#attempt = new AbortController();
    void this.#apply(this.#compile(text), text, this.#attempt.signal);
  }

  /** @throws Error with all that is wrong */
  #compile(text: string): readonly CompiledJwt[] {
    const { context } = this.#parts;
    const configuration = readAuthenticationConfiguration(text, context.naming);
    const compiled = compileConfiguration(configuration, context);
    const [now, before] = [configuration, this.#start.configuration].map(({ anonymous }) =>
      JSON.stringify(anonymous),
    );
    if (now === before) return compiled;
    throw new Error('anonymous: Forbidden: changed from initial configuration file');
  }

  /** Until it is in force, or the file changes again: an issuer may be away for a while. */
  async #apply(compiled: readonly CompiledJwt[], text: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#jwt.replace(compiled, signal);
        this.#parts.logger.info('the authentication configuration was reloaded', {
          file: this.#start.path,
        });
        this.#parts.onReload({ text });
        return;
      } catch (error) {
        if (!signal.aborted) this.#failed(error as Error);
      }
    }
  }

  #failed({ message }: Error): void {
    this.#parts.logger.error('the authentication configuration is not used, the one before stays', {
      file: this.#start.path,
      reason: message,
    });
    this.#parts.onReload('failure');
  }
}
