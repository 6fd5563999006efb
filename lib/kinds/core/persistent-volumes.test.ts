import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { persistentVolumeClaimStrategy, persistentVolumeStrategy } from './persistent-volumes.ts';
import { writeContext } from '../testing/write-context.ts';

const strategy = persistentVolumeClaimStrategy(namingProfile('kubernetes'));
const context = writeContext();

function prepared(spec: JsonObject, stored?: JsonObject, isOn = false): JsonObject {
  const object = { spec: { ...spec } };
  const old = stored === undefined ? undefined : { spec: stored };
  strategy.prepare?.(object, old, context, () => isOn);
  return object.spec;
}

const claim = { kind: 'PersistentVolumeClaim', name: 'a' };
const other = { apiGroup: 'example.com', kind: 'Dump', name: 'a' };
const far = { ...other, namespace: 'far' };
const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'a' };

test('a claim names its source in both fields', () => {
  expect(prepared({ dataSource: claim })).toEqual({ dataSource: claim, dataSourceRef: claim });
  expect(prepared({ dataSourceRef: other })).toEqual({ dataSource: other, dataSourceRef: other });
  expect(prepared({ dataSource: snapshot })).toHaveProperty('dataSourceRef', snapshot);
});

test('the older field takes claims and snapshots, others once it has one', () => {
  expect(prepared({ dataSource: other })).toEqual({});
  for (const stored of [{ dataSource: claim }, { dataSourceRef: far }]) {
    expect(prepared({ dataSource: other }, stored)).toHaveProperty('dataSource', other);
  }
});

test('the older field is kept beside the newer one: validation says that they differ', () => {
  const both = { dataSource: other, dataSourceRef: { ...other, name: 'b' } };
  expect(prepared(both)).toEqual(both);
});

test('a source in another namespace is none without its feature, unless one is stored', () => {
  expect(prepared({ dataSourceRef: far })).toEqual({});
  expect(prepared({ dataSourceRef: far }, { dataSourceRef: other })).toEqual({
    dataSourceRef: far,
  });
  expect(prepared({ dataSourceRef: far }, undefined, true)).toEqual({ dataSourceRef: far });
});

test('each change of the phase of a volume has its time', () => {
  const stored = { status: { phase: 'Bound' } };
  const written = (object: ApiObject, old: ApiObject = stored): ApiObject => {
    const write = { ...context, subresource: 'status' };
    persistentVolumeStrategy.prepare?.(object, old, write, () => true);
    return object;
  };
  const lastPhaseTransitionTime = '1970-01-01T00:00:00Z';
  expect(written({})).toEqual({ status: { lastPhaseTransitionTime } });
  expect(written({ status: { phase: 'Bound' } })).toEqual(stored);
  const timed = { status: { phase: 'Bound', lastPhaseTransitionTime: '1969-01-01T00:00:00Z' } };
  expect(written({ status: { phase: 'Bound' } }, timed)).toEqual(timed);
});
