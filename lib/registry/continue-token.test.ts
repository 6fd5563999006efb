import { describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import { makeContinueToken, readContinueToken } from './continue-token.ts';

const key = Buffer.from('a key that replicas share');
const scope = {
  group: 'apps',
  resource: 'deployments',
  namespace: 'a',
  labelSelector: 'x=y',
  fieldSelector: '',
};
const after = { namespace: 'a', name: 'last' };
const position = { at: { revision: 42, history: 7 }, after };

describe('a continue token', () => {
  test('gives back its position to whoever has the key', () => {
    const token = makeContinueToken(position, scope, key);
    expect(readContinueToken(token, scope, Buffer.from(key))).toEqual(position);
    expect(token).toMatch(/^[\w-]+$/);
  });

  test('can stand for the rest at the then current version', () => {
    const rest = { at: undefined, after };
    const token = makeContinueToken(rest, scope, key);
    expect(readContinueToken(token, scope, key)).toEqual(rest);
  });

  test.each([
    ['group', { ...scope, group: 'batch' }],
    ['resource', { ...scope, resource: 'replicasets' }],
    ['namespace', { ...scope, namespace: '' }],
    ['label selector', { ...scope, labelSelector: '' }],
    ['field selector', { ...scope, fieldSelector: 'metadata.name=a' }],
    ['bounds of its parts', { ...scope, group: 'app', resource: 'sdeployments' }],
  ])('is no good for another %s', (_what, other) => {
    const token = makeContinueToken(position, scope, key);
    expect(() => readContinueToken(token, other, key)).toThrow(StatusError);
  });

  test('is no good under another key', () => {
    const token = makeContinueToken(position, scope, key);
    expect(() => readContinueToken(token, scope, Buffer.from('other'))).toThrow(StatusError);
  });

  test('is refused with any byte changed', () => {
    const token = Buffer.from(makeContinueToken(position, scope, key), 'base64url');
    for (let at = 0; at < token.length; at++) {
      const changed = Buffer.from(token);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => readContinueToken(changed.toString('base64url'), scope, key)).toThrow(
        StatusError,
      );
    }
  });

  test.each(['', 'abc', '!!', 'e30', 'eyJ2Ijoibm9wZSJ9', 'AAAA'])('is not %j: 400', (text) => {
    expect(() => readContinueToken(text, scope, key)).toThrow(
      expect.objectContaining({ code: 400, reason: 'BadRequest' }),
    );
  });
});
