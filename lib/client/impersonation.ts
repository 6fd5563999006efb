// As whom else a user of a client configuration acts: `as` and what belongs to it, as headers.
import { SettingsError } from './settings-error.ts';

/** Names in lower case. */
export type SentHeaders = Readonly<Record<string, string | string[]>>;

type Fields = Readonly<Record<string, unknown>>;

/**
 * undefined: the user acts as itself
 * @throws SettingsError that names the field
 */
export function impersonationOf(user: Fields): SentHeaders | undefined {
  const name = textOf(user['as'], 'as');
  const uid = textOf(user['as-uid'], 'as-uid');
  const groups = textsOf(user['as-groups'], 'as-groups');
  const extra = user['as-user-extra'] ?? {};
  if (typeof extra !== 'object' || Array.isArray(extra)) {
    throw new SettingsError('as-user-extra must hold named lists');
  }
  const extras = Object.entries(extra).map(
    ([key, values]) =>
      [`impersonate-extra-${escaped(key)}`, textsOf(values, 'as-user-extra')] as const,
  );
  if (name === undefined) {
    if (uid === undefined && groups.length === 0 && extras.length === 0) return undefined;
    throw new SettingsError('as-uid, as-groups and as-user-extra need as');
  }
  return {
    'impersonate-user': name,
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...Object.fromEntries(extras.filter(([, values]) => values.length > 0)),
  };
}

/** Bytes that no name of a header may have, and `%`, as `%XX`: as servers decode it. */
const escaped = (key: string): string =>
  [...Buffer.from(key)]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return /[!#$&'*+.^_`|~0-9A-Za-z-]/.test(char)
        ? char
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');

/** As the bytes of UTF-8, which headers are sent in. Empty texts count as not given. */
function textOf(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw new SettingsError(`${field} must be text`);
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) {
    throw new SettingsError(`${field} has characters that no header may have`);
  }
  return Buffer.from(value).toString('latin1');
}

function textsOf(value: unknown, field: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new SettingsError(`${field} must be a list of texts`);
  return (value as readonly unknown[]).map((one) => textOf(one, field) ?? '');
}
