// What all replicas on one etcd prefix must agree on: made once by whoever starts first, read by
// the others.
import { createPublicKey, randomBytes } from 'node:crypto';
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';
import type { SharedSecrets } from '../../lib/storage-etcd/shared-secrets.ts';
import { makeCa, makeSigningKey } from './pki.ts';
import type { KeyPair } from './pki.ts';

const continueKeyBytes = 32;

export interface SharedState {
  /** Signs serving and admin certificates; clients trust it. */
  readonly ca: KeyPair;
  /** Signs continue tokens. */
  readonly continueKey: Uint8Array;
  /** PEM of the key that signs service-account tokens, and its public half. */
  readonly serviceAccountKey: { readonly key: string; readonly publicKey: string };
  readonly serviceAccountIssuer: string;
}

/** @throws FlagError when the data below the prefix was written in the other naming profile. */
export async function checkNaming(
  secrets: SharedSecrets,
  flags: Flags,
  signal: AbortSignal,
): Promise<void> {
  const { naming } = flags;
  const stored = text(await secrets.getOrCreate('naming', () => Buffer.from(naming), signal));
  if (stored === naming) return;
  throw new FlagError(
    `--naming=${naming}: the data below ${flags['etcd-prefix']} was written with ` +
      `--naming=${stored}; start with --naming=${stored}, ` +
      `or use another --etcd-prefix for ${naming}`,
  );
}

export async function loadSharedState(
  secrets: SharedSecrets,
  options: { readonly flags: Flags; readonly ownUrl: string },
  signal: AbortSignal,
): Promise<SharedState> {
  const { flags, ownUrl } = options;
  const issuer = flags['service-account-issuer']?.[0];
  const makePair = async (): Promise<Uint8Array> => {
    return Buffer.from(JSON.stringify(await makeCa('apiserver-ca')));
  };
  const makeKey = async (): Promise<Uint8Array> => Buffer.from(await makeSigningKey());
  const ca = JSON.parse(text(await secrets.getOrCreate('ca', makePair, signal))) as KeyPair;
  const key = text(await secrets.getOrCreate('service-account-key', makeKey, signal));
  const continueKey = await secrets.getOrCreate(
    'continue-key',
    () => randomBytes(continueKeyBytes),
    signal,
  );
  const sharedIssuer = await secrets.getOrCreate(
    'service-account-issuer',
    () => Buffer.from(issuer ?? ownUrl),
    signal,
  );
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
  return {
    ca,
    continueKey,
    serviceAccountKey: { key, publicKey },
    serviceAccountIssuer: issuer ?? text(sharedIssuer),
  };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
