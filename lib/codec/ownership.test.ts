import { expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { ownershipOf, uidOf } from './ownership.ts';

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ö "x"', uid: 'u-1' };
const tailOf = (metadata: JsonObject, rest: JsonObject = {}): Uint8Array => {
  const text = JSON.stringify({ metadata, ...rest });
  return new Uint8Array(Buffer.from(text.slice(1)));
};

const plain = { uid: 'u-0', isDeleting: false, owners: [], finalizers: [] };

test.each<[claim: string, metadata: JsonObject, expected: object]>([
  ['is empty where metadata says nothing of it', { name: 'a', uid: 'u-0' }, plain],
  ['of metadata without members is empty', {}, { ...plain, uid: '' }],
  [
    'reads owners and finalizers behind labels and annotations of any text',
    {
      name: 'a',
      uid: 'u-0',
      labels: { uid: 'no', finalizers: '["no"]', 'a\\': '}{][,"' },
      annotations: { 'x"\\"': '{"uid":"no"}', ü: '\u0001\n' },
      ownerReferences: [owner, { ...owner, uid: 'u-2', blockOwnerDeletion: true }],
      finalizers: ['orphan', 'example.com/h'],
      managedFields: [{ manager: 'm', fieldsV1: { uid: {}, finalizers: {} } }],
    },
    {
      ...plain,
      owners: [owner, { ...owner, uid: 'u-2', blockOwnerDeletion: true }],
      finalizers: ['orphan', 'example.com/h'],
    },
  ],
  [
    'knows a deletion that has begun',
    { uid: 'u-0', creationTimestamp: 'x', deletionTimestamp: '2024', generation: 3 },
    { ...plain, isDeleting: true },
  ],
  ['takes a deletion time of null for none', { uid: 'u-0', deletionTimestamp: null }, plain],
  ['reads a uid with escapes', { uid: 'a"\\é' }, { ...plain, uid: 'a"\\é' }],
])('what is read %s', (_claim, metadata, expected) => {
  for (const rest of [{}, { spec: { metadata: { uid: 'no' }, finalizers: ['no'] } }]) {
    const tail = tailOf(metadata, rest);
    expect(ownershipOf(tail)).toEqual(expected);
    expect(uidOf(tail)).toBe(ownershipOf(tail).uid);
  }
});
