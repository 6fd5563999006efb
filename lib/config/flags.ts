// THE table of flags: names, kinds, defaults, help. --help and the parsed record both come from it.
// Names and defaults are kube-apiserver's where it has the flag.
import { limits } from '../base/limits.ts';
import {
  bool,
  choice,
  durationMs,
  endpoints,
  fraction,
  integer,
  list,
  pairs,
  switches,
  path,
  positiveDurationMs,
  text,
} from './flag-kinds.ts';
import type { FlagKind } from './flag-kinds.ts';

interface Flag<T> {
  readonly section: string;
  readonly kind: FlagKind<T>;
  /** Text of the default, as a user would write it; undefined: the flag is off. */
  readonly fallback: string | undefined;
  readonly help: string;
  /** Warns when used; says what to use instead. */
  readonly deprecated?: string;
}

const required = <T>(
  section: string,
  kind: FlagKind<T>,
  fallback: string,
  help: string,
): Flag<T> & { readonly fallback: string } => ({ section, kind, fallback, help });
const optional = <T>(
  section: string,
  kind: FlagKind<T>,
  help: string,
): Flag<T> & { readonly fallback: undefined } => ({ section, kind, fallback: undefined, help });

const generic = 'Generic',
  storage = 'Storage',
  serving = 'Serving',
  identity = 'Authentication';
const api = 'API',
  lifecycle = 'Lifecycle',
  observe = 'Observability';

export const flagTable = {
  naming: required(
    generic,
    choice('svc', 'kubernetes'),
    'svc',
    'Spelling of vendor names in groups, labels and media types; kubernetes lets stock ' +
      'kubectl and client-go work. Fixed by the first start on a storage prefix.',
  ),
  'data-dir': required(
    generic,
    path,
    '.svc',
    'Folder for what this replica makes by itself: local etcd data, certificates, ' +
      'admin.kubeconfig.',
  ),

  'etcd-servers': optional(
    storage,
    endpoints,
    'URLs of the etcd members, comma-separated. Without it an etcd is run as a child process, ' +
      'with its data below --data-dir.',
  ),
  'etcd-prefix': required(storage, text, '/registry', 'Prefix of all keys in etcd.'),
  'etcd-cafile': optional(storage, path, 'CA that etcd serving certificates are checked against.'),
  'etcd-certfile': optional(storage, path, 'Client certificate for etcd.'),
  'etcd-keyfile': optional(storage, path, 'Key of the client certificate for etcd.'),
  'etcd-compaction-interval': required(
    storage,
    durationMs,
    '5m0s',
    'Interval of compaction requests; 0 turns compaction by this server off.',
  ),
  'storage-media-type': required(
    storage,
    text,
    'application/json',
    'Encoding of objects in etcd: application/json, the Protobuf media type of --naming, or ' +
      'application/cbor with its feature gate. Every encoding is read.',
  ),
  'event-ttl': required(storage, durationMs, '1h0m0s', 'How long events are kept.'),
  'cache-memory-mb': optional(
    storage,
    integer(16, 1_048_576),
    'Bound on the memory of the event log, memoised encodings and decoded objects, in MiB. ' +
      'Default: half of the heap limit.',
  ),

  'bind-address': required(serving, text, '127.0.0.1', 'Address to listen on.'),
  'secure-port': required(
    serving,
    integer(0, 65_535),
    '6443',
    'Port for HTTPS; 0 takes any free one.',
  ),
  'advertise-address': optional(
    serving,
    text,
    'Address under which clients reach this replica; default: the bind address.',
  ),
  'tls-cert-file': optional(
    serving,
    path,
    'Serving certificate (PEM, with its chain). Without it one is made below --data-dir.',
  ),
  'tls-private-key-file': optional(serving, path, 'Key of the serving certificate (PEM).'),
  'request-timeout': required(
    serving,
    positiveDurationMs,
    '1m0s',
    'Longest time of a request that is not a watch.',
  ),
  'min-request-timeout': required(
    serving,
    integer(1, 86_400),
    String(limits.minRequestTimeoutSeconds),
    'Shortest time in seconds of a watch that names none; the actual one is random, up to ' +
      'twice as long.',
  ),
  'goaway-chance': required(
    serving,
    fraction(0, 0.02),
    '0',
    'Share of HTTP/2 requests after which the client is asked to open a new connection, so ' +
      'that load spreads over replicas.',
  ),

  'client-ca-file': optional(
    identity,
    path,
    'CA bundle for client certificates. Without it the shared CA below the etcd prefix is used.',
  ),
  'token-auth-file': optional(
    identity,
    path,
    'CSV of static bearer tokens: token,user,uid,"group1,group2".',
  ),
  'anonymous-auth': required(
    identity,
    bool,
    'true',
    'Treat requests without credentials as system:anonymous; otherwise they are 401.',
  ),
  'service-account-issuer': optional(
    identity,
    text,
    "Issuer of service-account tokens; default: this server's URL.",
  ),

  'feature-gates': required(
    api,
    pairs,
    '',
    'Feature gates to switch, for example WatchList=false.',
  ),
  'runtime-config': required(
    api,
    switches,
    '',
    'API versions to switch: api/all, api/ga, api/beta, api/alpha, GROUP/VERSION or ' +
      'GROUP/VERSION/RESOURCE, each =true or =false.',
  ),
  'service-cluster-ip-range': required(
    api,
    list,
    '10.96.0.0/16',
    'Range that cluster IPs of services are taken from.',
  ),
  'service-node-port-range': required(
    api,
    text,
    '30000-32767',
    'Range that node ports are taken from.',
  ),

  'livez-grace-period': required(
    lifecycle,
    durationMs,
    '0s',
    'How long /livez treats start-up as healthy.',
  ),
  'shutdown-delay-duration': required(
    lifecycle,
    durationMs,
    '0s',
    'How long new requests are still served after /readyz begins to fail on shutdown.',
  ),

  'show-hidden-metrics-for-version': optional(
    observe,
    text,
    'Show metrics that are hidden since this previous version, for example 1.35.',
  ),
  'log-level': required(
    observe,
    choice('debug', 'info', 'warn', 'error'),
    'info',
    'Lowest level of log lines.',
  ),
} as const;

type Table = typeof flagTable;
type ValueOf<F> = F extends { readonly kind: FlagKind<infer T>; readonly fallback: infer D }
  ? D extends string
    ? T
    : T | undefined
  : never;
/** Parsed flags, by name. */
export type Flags = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

/** A start that cannot go on; the message names the flag and goes to the user as it is. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}

export interface ParsedFlags {
  readonly flags: Flags;
  /** Names that the command line gave, without dashes. */
  readonly given: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

/**
 * @throws FlagError for an unknown flag, a bad or missing value, one given twice, or two that
 * exclude each other.
 */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const texts = new Map<string, string[]>();
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    const match = /^--?([a-z0-9][a-z0-9_-]*)(?:=(.*))?$/is.exec(word);
    if (match === null)
      throw new FlagError(`unexpected argument "${word}": flags are written --name=value`);
    const name = (match[1] ?? '').replaceAll('_', '-');
    const flag = findFlag(name);
    let value = match[2] ?? flag.kind.bare;
    if (value === undefined) {
      index++;
      value = argv[index];
      if (value === undefined)
        throw new FlagError(`--${name} needs a value (${flag.kind.placeholder})`);
    }
    texts.set(name, [...(texts.get(name) ?? []), value]);
  }
  const entries = Object.keys(flagTable).map((name) => [name, valueOf(name, texts.get(name))]);
  const flags = Object.fromEntries(entries) as Flags; // one value per row of the table
  const given = new Set(texts.keys());
  checkTogether(flags);
  const warnings = [...given].flatMap((name) => {
    const { deprecated } = findFlag(name);
    return deprecated === undefined ? [] : [`flag --${name} is deprecated: ${deprecated}`];
  });
  return { flags, given, warnings };
}

function findFlag(name: string): Flag<unknown> {
  const flag = (flagTable as Readonly<Record<string, Flag<unknown>>>)[name];
  if (Object.hasOwn(flagTable, name) && flag !== undefined) return flag;
  const near = Object.keys(flagTable).find((known) => known.includes(name) || name.includes(known));
  const hint = near === undefined ? 'see --help' : `did you mean --${near}?`;
  throw new FlagError(`unknown flag --${name}: ${hint}`);
}

function valueOf(name: string, texts: readonly string[] | undefined): unknown {
  const flag = findFlag(name);
  if (texts !== undefined && texts.length > 1 && flag.kind.join === undefined) {
    throw new FlagError(`--${name} is given ${String(texts.length)} times; give it once`);
  }
  const given = texts === undefined ? flag.fallback : (flag.kind.join?.(texts) ?? texts[0]);
  if (given === undefined) return undefined;
  try {
    return flag.kind.parse(given);
  } catch (error) {
    throw new FlagError(`--${name}=${given}: ${(error as Error).message}`, { cause: error });
  }
}

/** Flags that belong together or exclude each other. */
function checkTogether(flags: Flags): void {
  const together: readonly (readonly [keyof Flags, keyof Flags])[] = [
    ['tls-cert-file', 'tls-private-key-file'],
    ['etcd-certfile', 'etcd-keyfile'],
  ];
  for (const [first, second] of together) {
    if ((flags[first] === undefined) !== (flags[second] === undefined)) {
      const [has, lacks] = flags[first] === undefined ? [second, first] : [first, second];
      throw new FlagError(`--${has} needs --${lacks} too`);
    }
  }
  for (const name of ['etcd-cafile', 'etcd-certfile'] as const) {
    if (flags[name] !== undefined && flags['etcd-servers'] === undefined) {
      throw new FlagError(
        `--${name} is for an external etcd: give --etcd-servers too, or leave both out`,
      );
    }
  }
  const prefix = flags['etcd-prefix'];
  if (!/^\/[^/](.*[^/])?$/.test(prefix) || /\/\/|[\u0000-\u0020]/.test(prefix)) {
    throw new FlagError(
      `--etcd-prefix=${prefix}: must be a path such as /registry, without a slash at its end`,
    );
  }
}

/** The text of --help. */
export function helpText(): string {
  const lines = ['svc apiserver: a cluster API server on etcd.', '', 'Usage: npm start -- [flags]'];
  let section = '';
  for (const [name, flag] of Object.entries(flagTable) as [string, Flag<unknown>][]) {
    if (flag.section !== section) {
      section = flag.section;
      lines.push('', `${section}:`);
    }
    const value = flag.kind.placeholder === '' ? '' : ` ${flag.kind.placeholder}`;
    const deprecation = flag.deprecated === undefined ? '' : `DEPRECATED: ${flag.deprecated}. `;
    const isShown = flag.fallback !== undefined && flag.fallback !== '';
    lines.push(`  --${name}${value}${isShown ? `   (default ${flag.fallback})` : ''}`);
    lines.push(`        ${deprecation}${flag.help}`);
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Flags that npm took for its own because the `--` was forgotten: they are in the environment as
 * npm_config_…. Returns the message for the user, or undefined.
 */
export function swallowedFlags(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const lost = Object.keys(flagTable).flatMap((name) => {
    const value = environment[`npm_config_${name.replaceAll('-', '_')}`];
    if (value === undefined || value === '') return [];
    return [value === 'true' ? `--${name}` : `--${name}=${value}`];
  });
  if (lost.length === 0) return undefined;
  return (
    `npm kept ${lost.join(' ')} for itself. Put -- before the server's flags: npm start ` +
    `-- ${lost.join(' ')}`
  );
}
