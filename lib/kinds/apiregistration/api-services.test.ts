import { expect, test } from '@jest/globals';
import type { ApiObject } from '../../codec/codec.ts';
import { apiServiceStrategy } from './api-services.ts';
import { writeContext } from '../testing/write-context.ts';

const context = writeContext({ nowMs: Date.UTC(2026, 0, 2), apiVersion: '' });
const isOn = (): boolean => true;

const written = (object: ApiObject, old?: ApiObject): ApiObject => {
  apiServiceStrategy.prepare?.(object, old, context, isOn);
  return object;
};

test('what this server answers itself is available from the first moment', () => {
  expect(written({ spec: { group: 'g', version: 'v1' } }).status).toEqual({
    conditions: [
      {
        type: 'Available',
        status: 'True',
        lastTransitionTime: '2026-01-02T00:00:00Z',
        reason: 'Local',
        message: 'Local APIServices are always available',
      },
    ],
  });
});

test('nobody knows yet whether a service answers', () => {
  expect(written({ spec: { service: { name: 's', namespace: 'n' } } }).status).toBeUndefined();
});

test('updates keep the status', () => {
  const old: ApiObject = { spec: {}, status: {} };
  expect(written({ spec: {}, status: {} }, old).status).toEqual({});
});
