// What parts of the server take that flags say in another form.
import { getHeapStatistics } from 'node:v8';
import { parseTokenFile } from '../../lib/authn/static-token.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';
import { readFlagFile } from './credentials.ts';

/**
 * What a flag's value makes impossible is the user's to mend: the message names the flag and
 * carries no stack.
 */
export function orFlagError<T>(flag: keyof Flags, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new FlagError(`--${flag}: ${(error as Error).message}`, { cause: error });
  }
}

export const readTokens = (file: string): ReturnType<typeof parseTokenFile> =>
  orFlagError('token-auth-file', () => parseTokenFile(readFlagFile('token-auth-file', file)));

/** File names of etcd's TLS flags; each file exists. @throws FlagError. */
export function etcdTls(flags: Flags): {
  tls?: { caFile?: string; certFile?: string; keyFile?: string };
} {
  const [caFile, certFile, keyFile] = (
    ['etcd-cafile', 'etcd-certfile', 'etcd-keyfile'] as const
  ).map((name) => {
    const file = flags[name];
    if (file !== undefined) readFlagFile(name, file); // a clear message now beats a TLS error later
    return file;
  });
  if (caFile === undefined && certFile === undefined) return {};
  return {
    tls: {
      ...(caFile === undefined ? {} : { caFile }),
      ...(certFile === undefined ? {} : { certFile }),
      ...(keyFile === undefined ? {} : { keyFile }),
    },
  };
}

/** Default: half of the heap limit. */
export function cacheBudgetBytes(flags: Flags): number {
  const megabytes = flags['cache-memory-mb'];
  return megabytes === undefined
    ? getHeapStatistics().heap_size_limit / 2
    : megabytes * 1024 * 1024;
}
