// Bootstrap tokens as Secrets of the system namespace hold them (specification 3, Bootstrap token
// Secret). A Secret that breaks a rule of names holds none.
import { ofProfile } from '../api/vendor.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isDeleting } from '../codec/object-meta.ts';
import { canonicalTime } from '../codec/value-forms.ts';

export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
  /** From then on it is expired, milliseconds since the epoch; Infinity: never. */
  readonly expiresAtMs: number;
  readonly canAuthenticate: boolean;
  readonly canSign: boolean;
  /** Sorted; undefined: the Secret names one that bootstrap tokens may not give. */
  readonly groups: readonly string[] | undefined;
}

/** The type of Secrets that hold one. */
export const bootstrapTokenType = ofProfile((naming) =>
  naming.resolve('bootstrap.{kubernetes}.io/token'),
);

export const bootstrapSecretName = (id: string): string => `bootstrap-token-${id}`;

const bootstrappersGroup = 'system:bootstrappers';
const extraGroup = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** undefined: the Secret holds none, goes, or cannot be read. */
export function readBootstrapToken(item: Item, naming: NamingProfile): BootstrapToken | undefined {
  if (item.corrupted) return undefined;
  const secret = item.object();
  if (isDeleting(secret) || secret['type'] !== bootstrapTokenType(naming)) return undefined;
  const [id, value] = [valueOf(secret, 'token-id'), valueOf(secret, 'token-secret')];
  if (id === '' || value === '' || item.name !== bootstrapSecretName(id)) return undefined;
  return {
    id,
    secret: value,
    expiresAtMs: bootstrapExpiryMs(secret),
    canAuthenticate: valueOf(secret, 'usage-bootstrap-authentication') === 'true',
    canSign: valueOf(secret, 'usage-bootstrap-signing') === 'true',
    groups: groupsOf(valueOf(secret, 'auth-extra-groups')),
  };
}

/** When a token of the Secret expires; -Infinity where nobody can read the time. */
export function bootstrapExpiryMs(secret: Readonly<ApiObject>): number {
  const text = valueOf(secret, 'expiration');
  if (text === '') return Infinity;
  const seconds = canonicalTime(text) ?? undefined;
  if (seconds === undefined) return -Infinity;
  const fraction = /[.,](\d+)/.exec(text)?.[1] ?? '0';
  return Date.parse(seconds) + Number(`0.${fraction}`) * 1_000;
}

function groupsOf(text: string): readonly string[] | undefined {
  if (text === '') return [bootstrappersGroup];
  const extra = text.split(',');
  if (!extra.every((group) => extraGroup.test(group))) return undefined;
  return [...new Set([bootstrappersGroup, ...extra])].sort();
}

/** '' where there is none. */
function valueOf(secret: Readonly<ApiObject>, key: string): string {
  const data = secret['data'];
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, key)) return '';
  const value = (data as Readonly<Record<string, unknown>>)[key];
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
}
