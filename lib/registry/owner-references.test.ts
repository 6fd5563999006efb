import { expect, test } from '@jest/globals';
import { inLinearTime } from '../base/testing/processor-time.ts';
import { mergeOwners } from './owner-references.ts';

const owner = (uid: string): { apiVersion: string; kind: string; name: string; uid: string } => ({
  apiVersion: 'v1',
  kind: 'Pod',
  name: 'p',
  uid,
});

test('equal owner references become one, with one warning', () => {
  const object = { metadata: { ownerReferences: ['u', 'v', 'u', 'u', 'v'].map(owner) } };
  const warnings: string[] = [];
  mergeOwners(object, warnings, '');
  expect(object.metadata.ownerReferences).toEqual([owner('u'), owner('v')]);
  expect(warnings).toEqual([expect.stringMatching(/^\.metadata\.ownerReferences .*: u, v$/)]);
});

test('references that differ stay as they are', () => {
  const ownerReferences = [owner('u'), { ...owner('u'), name: 'q' }];
  const object = { metadata: { ownerReferences } };
  const warnings: string[] = [];
  mergeOwners(object, warnings, '');
  expect(object.metadata.ownerReferences).toBe(ownerReferences);
  expect(warnings).toEqual([]);
});

test('many references take no longer than that', () => {
  const uids = Array.from({ length: 100_000 }, (_, at) => String(at % 99_999));
  const object = { metadata: { ownerReferences: uids.map(owner) } };
  inLinearTime(() => mergeOwners(object, [], ''));
  expect(object.metadata.ownerReferences).toHaveLength(99_999);
});
