import { expect, test } from '@jest/globals';
import { loadProto } from './load-proto.ts';
import { isAbsent, isEmpty, isUnset, isZero } from './presence.ts';
import { RawJson } from './raw-json.ts';
import type { FieldInfo, JsonObject, JsonValue } from './type-info.ts';
import { namingProfile } from './vendor.ts';

const noPrototype = (): JsonObject => Object.create(null) as JsonObject;

test.each<[JsonValue | undefined, absent: boolean, empty: boolean, zero: boolean]>([
  [undefined, true, true, true],
  [null, true, true, true],
  ['', false, true, true],
  [[], false, true, true],
  [{}, false, true, true],
  [noPrototype(), false, true, true],
  [0, false, false, true],
  [-0, false, false, true],
  [0n, false, false, true],
  [false, false, false, true],
  ['0', false, false, false],
  [1, false, false, false],
  [1n, false, false, false],
  [true, false, false, false],
  [[null], false, false, false],
  [{ a: undefined }, false, false, false],
  [JSON.parse('{"__proto__":1}') as JsonValue, false, false, false],
  [RawJson.of('{}'), false, false, false],
])('%p: absent %p, empty %p, zero %p', (value, absent, empty, zero) => {
  expect([isAbsent(value), isEmpty(value), isZero(value)]).toEqual([absent, empty, zero]);
});

const { types } = loadProto(namingProfile('svc'));

function fieldOf(type: string, name: string): FieldInfo {
  const field = types.get(type)?.fieldByJsonName.get(name);
  if (field === undefined) throw new Error(`no field ${name} of ${type}`);
  return field;
}

test.each<[type: string, name: string, unset: JsonValue[], set: JsonValue[]]>([
  ['core/v1.PodSpec', 'hostNetwork', [false], [true]],
  ['core/v1.PodSpec', 'enableServiceLinks', [], [false, true]],
  ['core/v1.PodSpec', 'nodeName', [''], ['n']],
  ['core/v1.PodSpec', 'hostnameOverride', [], ['', 'n']],
  ['core/v1.PodSpec', 'containers', [[]], [[{}]]],
  ['core/v1.PodSpec', 'nodeSelector', [{}], [{ a: '' }]],
  ['core/v1.PodSpec', 'securityContext', [], [{}]],
  ['core/v1.Pod', 'status', [], [{}]],
  ['core/v1.ServicePort', 'targetPort', ['', 0], ['http', 1]],
])('%s.%s is unset by %j, not by %j', (type, name, unset, set) => {
  const field = fieldOf(type, name);
  expect([undefined, null, ...unset].filter((value) => !isUnset(field, value))).toEqual([]);
  expect(set.filter((value) => isUnset(field, value))).toEqual([]);
});
