// The files that flags name, read and checked before anything is started: a message that names the
// flag now beats a TLS error later.
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CertificateBundle } from '../../lib/base/certificate-bundle.ts';
import { readSigningKey, readTokenKeys } from '../../lib/authn/service-account/keys.ts';
import type { SigningKey, TokenKey } from '../../lib/authn/service-account/keys.ts';
import { parseTokenFile } from '../../lib/authn/static-token.ts';
import type { User } from '../../lib/base/user.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';
import type { NamedPair } from '../../lib/server/named-certificates.ts';
import type { EtcdTlsFiles } from '../../lib/storage-etcd/endpoint.ts';
import { orFileError } from './file-problem.ts';
import type { KeyPair } from './pki.ts';

export interface GivenFiles {
  /** Users of `--token-auth-file`; undefined without the flag. */
  readonly tokens: ReadonlyMap<string, User> | undefined;
  /** PEM of `--client-ca-file`; empty without the flag. */
  readonly clientCa: string;
  /** PEM of `--oidc-ca-file`; empty without the flag. */
  readonly oidcCa: string;
  /** PEM of `--requestheader-client-ca-file`; empty without the flag. */
  readonly frontProxyCa: string;
  /** PEM of `--tls-cert-file` and its key; undefined without the flags. */
  readonly serving: KeyPair | undefined;
  /** Of `--tls-sni-cert-key`; empty without the flag. */
  readonly named: readonly NamedPair[];
  /** Of `--service-account-signing-key-file`; undefined without the flag. */
  readonly signingKey: SigningKey | undefined;
  /** Of `--service-account-key-file`, else of `--tls-private-key-file`; empty without either. */
  readonly tokenKeys: readonly TokenKey[];
  /** Paths: they are read again whenever etcd is connected to. */
  readonly etcdTls: EtcdTlsFiles;
}

type FileFlag = {
  [Name in keyof Flags]: Name extends `${string}file`
    ? Flags[Name] extends string | undefined
      ? Name
      : never
    : never;
}[keyof Flags];

/** @throws FlagError for a file that cannot be read, or does not hold what its flag says. */
export function readGivenFiles(flags: Flags): GivenFiles {
  const clientCa = given(flags, 'client-ca-file', readCertificates);
  const etcdCa = given(flags, 'etcd-cafile', readCertificates);
  const serving = readServingPair(flags);
  const etcdClient = readPair(flags, { cert: 'etcd-certfile', key: 'etcd-keyfile' });
  const { 'etcd-cafile': caFile, 'etcd-certfile': certFile, 'etcd-keyfile': keyFile } = flags;
  return {
    tokens: given(flags, 'token-auth-file', readTokens),
    clientCa: clientCa ?? '',
    oidcCa: given(flags, 'oidc-ca-file', readCertificates) ?? '',
    frontProxyCa: given(flags, 'requestheader-client-ca-file', readCertificates) ?? '',
    serving,
    named: readNamedPairs(flags),
    signingKey: given(flags, 'service-account-signing-key-file', readSigningKey),
    tokenKeys: tokenKeysOf(flags, serving),
    etcdTls: {
      ...(etcdCa === undefined || caFile === undefined ? {} : { caFile }),
      ...(etcdClient === undefined || certFile === undefined ? {} : { certFile }),
      ...(etcdClient === undefined || keyFile === undefined ? {} : { keyFile }),
    },
  };
}

/** The pair as its files are now. @throws FlagError as above. */
export const readServingPair = (flags: Flags): KeyPair | undefined =>
  readPair(flags, { cert: 'tls-cert-file', key: 'tls-private-key-file' });

/** Those of `--tls-sni-cert-key`, as their files are now. @throws FlagError as above. */
export const readNamedPairs = (flags: Flags): NamedPair[] =>
  (flags['tls-sni-cert-key'] ?? []).map(({ cert, key, names }) => {
    const flag = 'tls-sni-cert-key';
    const pair = {
      cert: readFile(flag, cert, readCertificates),
      key: readFile(flag, key, readKey),
    };
    if (isPair(pair)) return { ...pair, names };
    throw new FlagError(`--${flag}: ${key} is not the key of the first certificate in ${cert}`);
  });

const isPair = ({ cert, key }: KeyPair): boolean =>
  new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));

function tokenKeysOf(flags: Flags, serving: KeyPair | undefined): TokenKey[] {
  const files = flags['service-account-key-file'];
  if (files !== undefined) {
    return files.flatMap((file) => readFile('service-account-key-file', file, readTokenKeys));
  }
  if (serving === undefined) return [];
  try {
    return readTokenKeys(serving.key);
  } catch {
    return []; // good for TLS, and of no sort that signs tokens
  }
}

/** Reads the file of a flag that is given; what `read` throws is said of flag and file. */
function given<T>(flags: Flags, flag: FileFlag, read: (text: string) => T): T | undefined {
  const file = flags[flag];
  return file === undefined ? undefined : readFile(flag, file, read);
}

const readFile = <T>(flag: keyof Flags, file: string, read: (text: string) => T): T =>
  orFileError(flag, file, () => read(readFileSync(file, 'utf8')));

const readTokens = (text: string): ReadonlyMap<string, User> => parseTokenFile(text);

const readCertificates = (text: string): string => new CertificateBundle(text).pem;

function readKey(text: string): string {
  try {
    createPrivateKey(text);
    return text;
  } catch (cause) {
    throw new Error('must hold a private key in PEM, without a passphrase', { cause });
  }
}

function readPair(
  flags: Flags,
  names: { readonly cert: FileFlag; readonly key: FileFlag },
): KeyPair | undefined {
  const cert = given(flags, names.cert, readCertificates);
  const key = given(flags, names.key, readKey);
  if (cert === undefined || key === undefined) return undefined;
  if (!isPair({ cert, key })) {
    throw new FlagError(
      `--${names.key}=${flags[names.key] ?? ''}: is not the key of the first certificate in ` +
        `--${names.cert}=${flags[names.cert] ?? ''}`,
    );
  }
  return { cert, key };
}
