// Reads a command line by the tables of flags: what each one is set to, and what to tell the user.
import { absentFlags } from './absent-flags.ts';
import type { AbsentFlag, Answer } from './absent-flags.ts';
import { checkAuthorizationFlags } from './check-authorization.ts';
import { closestName } from './closest-name.ts';
import type { Flag } from './flag.ts';
import type { FlagKind } from './flag-kinds.ts';
import { FlagError, flagTable } from './flags.ts';
import type { Flags } from './flags.ts';

export interface ParsedFlags {
  readonly flags: Flags;
  /** The value of each in words; '' of those that are off. */
  readonly texts: ReadonlyMap<string, string>;
  /** Names that the command line gave, without dashes. */
  readonly given: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

const rows: ReadonlyMap<string, Flag<unknown>> = new Map(Object.entries(flagTable));
const absentRows: ReadonlyMap<string, AbsentFlag> = new Map(Object.entries(absentFlags));

/**
 * @throws FlagError for an unknown flag, a bad or missing value, one given twice, two that exclude
 * each other, or one that would have to be ignored and must not be.
 */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const words = readWords(argv);
  const texts = new Map<string, string>();
  const entries = [...rows].map(([name, { kind, fallback }]) => {
    const given = joined(name, kind, words.get(name)) ?? fallback;
    texts.set(name, given ?? '');
    return [name, given === undefined ? undefined : parsed(name, kind, given)];
  });
  const flags = Object.fromEntries(entries) as Flags; // one value per row of the table
  checkTogether(flags);
  checkAuthorizationFlags(flags, words);
  checkIssuers(flags, words);
  const warnings = [...words].flatMap(([name, given]) => {
    const absent = absentRows.get(name);
    if (absent !== undefined) return answered(name, absent, joined(name, absent.kind, given) ?? '');
    const deprecated = rows.get(name)?.deprecated;
    return deprecated === undefined ? [] : [`flag --${name} is deprecated: ${deprecated}`];
  });
  return { flags, texts, given: new Set(words.keys()), warnings };
}

/** The texts of each flag, by its name without dashes, in the order of the command line. */
function readWords(argv: readonly string[]): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    const match = /^--?([a-z0-9][a-z0-9_-]*)(?:=(.*))?$/is.exec(word);
    if (match === null)
      throw new FlagError(`unexpected argument "${word}": flags are written --name=value`);
    const name = (match[1] ?? '').replaceAll('_', '-');
    const kind = kindOf(name);
    let value = match[2] ?? kind.bare;
    if (value === undefined) {
      index++;
      value = argv[index];
      if (value === undefined) throw new FlagError(`--${name} needs a value (${kind.placeholder})`);
    }
    texts.set(name, [...(texts.get(name) ?? []), value]);
  }
  return texts;
}

function kindOf(name: string): FlagKind<unknown> {
  const row = rows.get(name) ?? absentRows.get(name);
  if (row !== undefined) return row.kind;
  const near = closestName(name, [...rows.keys(), ...absentRows.keys()]);
  const hint = near === undefined ? 'see --help' : `did you mean --${near}?`;
  throw new FlagError(`unknown flag --${name}: ${hint}`);
}

function joined(
  name: string,
  kind: FlagKind<unknown>,
  texts: readonly string[] | undefined,
): string | undefined {
  if (texts !== undefined && texts.length > 1 && kind.join === undefined) {
    throw new FlagError(`--${name} is given ${String(texts.length)} times; give it once`);
  }
  return texts === undefined ? undefined : (kind.join?.(texts) ?? texts[0]);
}

function parsed<T>(name: string, kind: FlagKind<T>, given: string): T {
  try {
    return kind.parse(given);
  } catch (error) {
    throw new FlagError(`--${name}=${given}: ${(error as Error).message}`, { cause: error });
  }
}

/** What to say of a flag that this server does not have. @throws FlagError when it is refused. */
function answered(name: string, row: AbsentFlag, given: string): string[] {
  const value = parsed(name, row.kind, given);
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
  const answerTo = new Map<string, Answer>(Object.entries(row.answers));
  const answers = entries.map((entry) => answerTo.get(String(entry)) ?? row.answers['*']);
  const flag = `--${name}=${given}`;
  if (answers.includes('refused')) {
    throw new FlagError(`${flag} is refused, for it would have no effect: ${row.instead}`);
  }
  return answers.includes('warned') ? [`${flag} has no effect: ${row.instead}`] : [];
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
  checkEtcdTogether(flags);
  for (const name of ['enable-admission-plugins', 'disable-admission-plugins'] as const) {
    if (flags['admission-control'] === undefined || flags[name].length === 0) continue;
    throw new FlagError(
      `--admission-control says which plugins are on, all of them: leave out --${name}`,
    );
  }
}

/** There is one way to say whose tokens are accepted. */
function checkIssuers(flags: Flags, given: ReadonlyMap<string, unknown>): void {
  const [first] = [...given.keys()].filter((name) => name.startsWith('oidc-'));
  if (first === undefined) return;
  if (flags['authentication-config'] !== undefined) {
    throw new FlagError(
      `--authentication-config and --${first} cannot be combined: flags --oidc-* and the file ` +
        'are mutually exclusive',
    );
  }
  for (const name of ['oidc-issuer-url', 'oidc-client-id'] as const) {
    if ((flags[name] ?? '') !== '') continue;
    throw new FlagError(
      `--${first} needs --${name}: oidc-issuer-url and oidc-client-id must be specified ` +
        'together when any oidc-* flags are set',
    );
  }
}

function checkEtcdTogether(flags: Flags): void {
  const servers = flags['etcd-servers'];
  for (const name of ['etcd-cafile', 'etcd-certfile'] as const) {
    if (flags[name] === undefined) continue;
    if (servers === undefined) {
      throw new FlagError(
        `--${name} is for an external etcd: give --etcd-servers too, or leave both out`,
      );
    }
    const plain = servers.find((url) => url.startsWith('http:'));
    if (plain !== undefined) {
      throw new FlagError(
        `--${name} is for TLS, and ${plain} in --etcd-servers is without: write https://, or ` +
          `leave out --${name}`,
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
  for (const [name, flag] of rows) {
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
  lines.push('', "docs/flags.md says what becomes of kube-apiserver's other flags.");
  return `${lines.join('\n')}\n`;
}

/**
 * Flags that npm took for its own because the `--` was forgotten: they are in the environment as
 * npm_config_…. Returns the message for the user, or undefined.
 */
export function swallowedFlags(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const lost = [...rows.keys(), ...absentRows.keys()].flatMap((name) => {
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
