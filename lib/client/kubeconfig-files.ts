// A client configuration file with the files that it names, read again and again: certificates and
// tokens are renewed by replacing files. What cannot be used changes nothing; one log line says so.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { parseKubeconfig } from './kubeconfig.ts';
import type { Held, Kubeconfig, KubeconfigUser } from './kubeconfig.ts';
import { SettingsError } from './settings-error.ts';
import type { Identity, SettingsSource } from './target-settings.ts';

/** YAML or JSON to data. Its errors must quote nothing of the text: they are logged. */
export type ParseConfig = (text: string) => unknown;

export interface ReadKubeconfig {
  readonly source: SettingsSource;
  /** Changes with the content of any of the files. */
  readonly digest: string;
}

/** @throws SettingsError that names what is wrong */
export async function readKubeconfig(path: string, parse: ParseConfig): Promise<ReadKubeconfig> {
  const source = await filled(parseKubeconfig(await dataOf(path, parse), dirname(path)));
  return { source, digest: digestOf(source) };
}

/** @throws SettingsError where it cannot be read or parsed */
export const dataOf = async (path: string, parse: ParseConfig): Promise<unknown> =>
  parsed(await read(path), parse);

export const digestOf = (content: unknown): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('base64');

/** What files hold, ready for use, and what changes with their content. */
export interface ReadFiles<T> {
  readonly digest: string;
  /** @throws SettingsError where they are of no use */
  make(): T;
}

interface FollowerParts<T> {
  /** @throws SettingsError where they cannot be read */
  readonly read: () => Promise<ReadFiles<T>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly use: (made: T) => void;
}

/** Calls `use` whenever the files have changed to something else that can be used. */
export class KubeconfigFollower<T> {
  readonly #path: string;
  readonly #parts: FollowerParts<T>;
  /** Of what was looked at last, whether it could be used or not. */
  #digest: string;
  #lastProblem: string | undefined;
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(path: string, digest: string, parts: FollowerParts<T>) {
    this.#path = path;
    this.#digest = digest;
    this.#parts = parts;
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#parts.clock.after(limits.clientFilesIntervalMs, () => {
      void this.#look().finally(() => this.#schedule());
    });
  }

  async #look(): Promise<void> {
    const { log, read: readFiles, use } = this.#parts;
    const file = this.#path;
    try {
      const files = await readFiles();
      this.#lastProblem = undefined;
      if (files.digest === this.#digest || this.#isClosed) return;
      this.#digest = files.digest;
      use(files.make());
      log.info('a client configuration has changed and is in use', { file });
    } catch (error) {
      const problem = Error.isError(error) ? error.message : 'it failed';
      if (problem === this.#lastProblem) return;
      this.#lastProblem = problem;
      log.warn('a client configuration cannot be used, the last one stays', { file, problem });
    }
  }
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const code = Error.isError(cause) && 'code' in cause ? String(cause.code) : 'it failed';
    throw new SettingsError(`${path} cannot be read: ${code}`);
  }
}

function parsed(text: string, parse: ParseConfig): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new SettingsError(Error.isError(cause) ? cause.message : 'it is not YAML');
  }
}

async function filled(config: Kubeconfig): Promise<SettingsSource> {
  const { server, serverName, isServerUnchecked, ca, proxy } = config;
  return {
    url: server,
    isServerUnchecked,
    ...(serverName === undefined ? {} : { serverName }),
    ...(ca === undefined ? {} : { ca: await textOf(ca) }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(await identityOf(config)),
  };
}

/** What a user is, with what its files hold. */
export async function identityOf(user: KubeconfigUser): Promise<Identity> {
  const { clientCertificate, impersonation, exec } = user;
  const authorization = await authorizationOf(user);
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(impersonation === undefined ? {} : { headers: impersonation }),
    ...(exec === undefined ? {} : { exec }),
    ...(clientCertificate === undefined
      ? {}
      : {
          clientCertificate: {
            cert: await textOf(clientCertificate.cert),
            key: await textOf(clientCertificate.key),
          },
        }),
  };
}

async function authorizationOf({ token, basic }: KubeconfigUser): Promise<string | undefined> {
  if (token !== undefined) return `Bearer ${(await textOf(token)).trim()}`;
  if (basic === undefined) return undefined;
  const pair = Buffer.from(`${basic.username}:${basic.password}`);
  return `Basic ${pair.toString('base64')}`;
}

const textOf = async (held: Held): Promise<string> => held.text ?? (await read(held.path));
