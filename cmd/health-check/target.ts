// Where the server of a command line listens, for whoever asks from the same host.
import type { ParsedFlags } from '../../lib/config/parse-flags.ts';

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** --tls-cert-file, where it is given. */
  readonly certFile: string | undefined;
}

/** @throws Error when the command line is no server's; FlagError for flags that are wrong. */
export function readTarget(
  argv: readonly string[],
  parse: (flags: readonly string[]) => ParsedFlags,
): Target {
  const at = argv.findIndex((word) => word.endsWith('cmd/apiserver/main.ts'));
  if (at < 0) throw new Error('the first process of this container is no server');
  const { flags } = parse(argv.slice(at + 1));
  const bound = flags['bind-address'];
  const unspecified: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return {
    host: unspecified[bound] ?? bound,
    port: flags['secure-port'],
    dataDir: flags['data-dir'],
    certFile: flags['tls-cert-file'],
  };
}
