// Reads the TokenReview that a service answers with. It is somebody else's: what is not of the type
// that it should be makes the whole answer a bad one.
import type { User } from '../../base/user.ts';

export interface ReviewAnswer {
  /** undefined: the token is not authenticated. */
  readonly user: User | undefined;
  /** Empty: it names none. */
  readonly audiences: readonly string[];
  /** Why it is not; '' where it is, or where nothing is said. */
  readonly error: string;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * @param apiVersion that was asked in; what leaves out kind and version is taken for it
 * @throws Error for everything else than such a review, and for a user without a name
 */
export function readAnswer(body: Uint8Array, apiVersion: string): ReviewAnswer {
  const review = fieldsOf(JSON.parse(Buffer.from(body).toString('utf8')));
  if ((review['kind'] ?? 'TokenReview') !== 'TokenReview') throw new Error('another kind');
  if ((review['apiVersion'] ?? apiVersion) !== apiVersion) throw new Error('another version');
  const status = fieldsOf(review['status'] ?? {});
  const isKnown = status['authenticated'] ?? false;
  if (typeof isKnown !== 'boolean') throw new Error('authenticated is true or false');
  return {
    user: isKnown ? userOf(fieldsOf(status['user'] ?? {})) : undefined,
    audiences: textsOf(status['audiences'] ?? []),
    error: isKnown ? '' : textOf(status['error'] ?? ''),
  };
}

/** Specification 3, TokenReview: the name is required on success. */
function userOf(user: Fields): User {
  const name = textOf(user['username'] ?? '');
  if (name === '') throw new Error('a user without a name');
  const extra = Object.entries(fieldsOf(user['extra'] ?? {}));
  return {
    name,
    uid: textOf(user['uid'] ?? ''),
    groups: textsOf(user['groups'] ?? []),
    extra: Object.fromEntries(extra.map(([key, values]) => [key, textsOf(values ?? [])])),
  };
}

function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new Error('no object');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new Error('no text');
}

function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(textOf);
  throw new Error('no list');
}
