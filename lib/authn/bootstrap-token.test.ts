import { describe, expect, test } from '@jest/globals';
import { namingProfile } from '../api/vendor.ts';
import type { Item, ItemKey } from '../cacher/resource-view.ts';
import { bootstrapTokenAuthenticator } from './bootstrap-token.ts';
import { testCredentials } from './testing/credentials.ts';

const { signal } = new AbortController();
const naming = namingProfile('kubernetes');
const nowMs = Date.parse('2026-06-01T12:00:00Z');
const good = {
  'token-id': 'abcde1',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
};
const token = 'abcde1.0123456789abcdef';

interface Given {
  readonly data?: Readonly<Record<string, string | undefined>>;
  readonly type?: string;
  readonly name?: string;
  readonly metadata?: object;
  readonly corrupted?: boolean;
}

function secret({ data, type, name, metadata, corrupted }: Given): Item {
  const texts = Object.entries({ ...good, ...data }).filter(([, text]) => text !== undefined);
  const encoded = texts.map(([key, text]) => [key, Buffer.from(text ?? '').toString('base64')]);
  const object = {
    metadata,
    type: type ?? naming.resolve('bootstrap.{kubernetes}.io/token'),
    data: Object.fromEntries(encoded) as object,
  };
  const item = { name: name ?? 'bootstrap-token-abcde1', corrupted: corrupted === true };
  return { ...item, namespace: 'x', object: () => object } as unknown as Item;
}

function asking(given: Given | undefined, { at = nowMs } = {}) {
  const item = given === undefined ? undefined : secret(given);
  const peek = ({ namespace, name }: ItemKey): Item | undefined =>
    namespace === naming.systemNamespace && name === item?.name ? item : undefined;
  const authenticator = bootstrapTokenAuthenticator({ secrets: { peek }, naming, nowMs: () => at });
  return (shown: string | undefined = token) =>
    authenticator.authenticate(testCredentials({ token: shown }), signal);
}

const groups = ['system:bootstrappers'];

describe('a bootstrap token', () => {
  test.each<[NonNullable<Given['data']>, readonly string[]]>([
    [{}, groups],
    [{ description: 'a text' }, groups],
    [{ 'usage-bootstrap-signing': 'true' }, groups],
    [{ 'auth-extra-groups': '' }, groups],
    [
      { 'auth-extra-groups': 'system:bootstrappers:worker,system:bootstrappers:a:b-c' },
      [...groups, 'system:bootstrappers:a:b-c', 'system:bootstrappers:worker'],
    ],
    [{ expiration: '2026-06-01T12:00:00.001Z' }, groups],
    [{ expiration: '2026-06-01T14:00:01+02:00' }, groups],
    [{ expiration: '2099-01-01T00:00:00Z' }, groups],
  ])('of a Secret with %j is a user with groups', (data, expected) => {
    expect(asking({ data })()).toEqual({
      outcome: 'accepted',
      user: { name: 'system:bootstrap:abcde1', uid: '', groups: expected, extra: {} },
    });
  });

  test.each<[Given | undefined]>([
    [undefined],
    [{ type: 'Opaque' }],
    [{ corrupted: true }],
    [{ metadata: { deletionTimestamp: '2026-06-01T11:00:00Z' } }],
    [{ data: { 'token-id': 'abcde2' } }],
    [{ data: { 'token-id': undefined } }],
    [{ data: { 'token-secret': undefined } }],
    [{ data: { 'token-secret': '0123456789abcdee' } }],
    [{ data: { 'token-secret': '0123456789abcdef0' } }],
    [{ data: { 'usage-bootstrap-authentication': undefined } }],
    [{ data: { 'usage-bootstrap-authentication': 'false' } }],
    [{ data: { 'usage-bootstrap-authentication': 'True' } }],
    [{ data: { 'auth-extra-groups': 'system:masters' } }],
    [{ data: { 'auth-extra-groups': 'system:bootstrappers:a, system:bootstrappers:b' } }],
    [{ data: { 'auth-extra-groups': 'system:bootstrappers:' } }],
    [{ data: { 'auth-extra-groups': `system:bootstrappers:${'a'.repeat(257)}` } }],
    [{ data: { expiration: '2026-06-01T12:00:00Z' } }],
    [{ data: { expiration: '2026-06-01T13:59:59+02:00' } }],
    [{ data: { expiration: 'tomorrow' } }],
    [{ data: { expiration: '2026-06-01' } }],
  ])('of %j is rejected', (given) => {
    expect(asking(given)()).toMatchObject({ outcome: 'rejected' });
  });

  test('ends with its time, to the millisecond', () => {
    const given = { data: { expiration: '2026-06-01T12:00:00.5Z' } };
    expect(asking(given, { at: nowMs + 499 })()).toMatchObject({ outcome: 'accepted' });
    expect(asking(given, { at: nowMs + 500 })()).toMatchObject({ outcome: 'rejected' });
  });

  test.each([
    'abcde1.0123456789abcde',
    'abcde1.0123456789abcdef0',
    'abcde1.0123456789ABCDEF',
    'ABCDE1.0123456789abcdef',
    'abcde10123456789abcdef',
    'abcde1.0123456789abcdef\n',
    undefined,
  ])('is not what %j is: others are asked', (shown) => {
    const authenticate = asking({});
    const outcome = shown === undefined ? asking({})('') : authenticate(shown);
    expect(outcome).toEqual({ outcome: 'absent' });
  });

  test('is one user record for all of its requests', () => {
    const authenticate = asking({});
    const [first, second] = [authenticate(), authenticate()] as { user?: object }[];
    expect(first?.user).toBeDefined();
    expect(second?.user).toBe(first?.user);
  });
});
