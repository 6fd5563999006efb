// Continue tokens of chunked lists: where to go on, signed for one path and one selection. Any
// replica with the same key reads the tokens of the others. Tokens are opaque to clients, not
// secret.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequest } from '../base/status.ts';
import type { ItemKey } from '../cacher/resource-view.ts';
import type { Revision } from '../storage-etcd/storage.ts';

/** What a token is valid for: another path or selection makes it invalid. */
export interface TokenScope {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

export interface ContinuePosition {
  /** undefined: the rest of the list at the then current revision (inconsistent continue). */
  readonly at: ListedAt | undefined;
  readonly after: ItemKey;
}

export interface ListedAt {
  readonly revision: Revision;
  /** Of the store, as the replica knew it that made the token. */
  readonly history: number;
}

const macBytes = 16;

// token = base64url( mac[16] || JSON [revision or -1, namespace, name, history] )
export function makeContinueToken(
  position: ContinuePosition,
  scope: TokenScope,
  key: Uint8Array,
): string {
  const { at, after } = position;
  const fields = [at?.revision ?? -1, after.namespace, after.name, at?.history ?? 0];
  const payload = Buffer.from(JSON.stringify(fields));
  return Buffer.concat([macOf(payload, scope, key), payload]).toString('base64url');
}

/** @throws StatusError 400 for a token that was not made for this list with this key. */
export function readContinueToken(
  token: string,
  scope: TokenScope,
  key: Uint8Array,
): ContinuePosition {
  const bytes = Buffer.from(token, 'base64url');
  const mac = bytes.subarray(0, macBytes);
  const payload = bytes.subarray(macBytes);
  const isCanonical = bytes.toString('base64url') === token.replace(/=+$/, '');
  if (!isCanonical || mac.length < macBytes || !timingSafeEqual(mac, macOf(payload, scope, key))) {
    throw badRequest('invalid continue token: it was not made for this list');
  }
  // The MAC proves that makeContinueToken wrote the payload.
  const fields = JSON.parse(payload.toString()) as [number, string, string, number];
  const [revision, namespace, name, history] = fields;
  return { at: revision === -1 ? undefined : { revision, history }, after: { namespace, name } };
}

function macOf(payload: Uint8Array, scope: TokenScope, key: Uint8Array): Uint8Array {
  const { group, resource, namespace, labelSelector, fieldSelector } = scope;
  const bound = JSON.stringify([group, resource, namespace, labelSelector, fieldSelector]);
  const mac = createHmac('sha256', key).update(bound).update('\n').update(payload);
  return mac.digest().subarray(0, macBytes);
}
