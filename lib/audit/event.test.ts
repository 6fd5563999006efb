import { expect, test } from '@jest/globals';
import { legacyLine } from './legacy-line.ts';
import { recordedJson } from './recorded-json.ts';
import { eventOf } from './testing/recorder.ts';

const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString();
const jsonOf = (pieces: readonly Uint8Array[]): Record<string, unknown> =>
  JSON.parse(`{${textOf(pieces)}`) as Record<string, unknown>;
const bytes = (text: string): Uint8Array => Buffer.from(text);
const ref = {
  resource: 'pods',
  namespace: 'a',
  name: '',
  uid: '',
  apiGroup: '',
  apiVersion: 'v1',
  resourceVersion: '',
  subresource: '',
};

test('members are in order, and what is empty is left out', () => {
  const event = eventOf({
    objectRef: ref,
    requestObject: [bytes('{"a":'), bytes('1}')],
    responseObject: [bytes('[]')],
    annotations: new Map([
      ['b', '2'],
      ['a', '1'],
    ]),
  });
  expect(`{${textOf(event.members)}`).toBe(
    '{"level":"Metadata","auditID":"a-1","stage":"ResponseComplete","requestURI":"/api/v1/pods",' +
      '"verb":"list","user":{"username":"jane","groups":["g"]},"sourceIPs":["10.0.0.9"],' +
      '"userAgent":"test/1","objectRef":{"resource":"pods","namespace":"a","apiVersion":"v1"},' +
      '"responseStatus":{"metadata":{},"code":200},"requestObject":{"a":1},"responseObject":[],' +
      '"requestReceivedTimestamp":"1970-01-01T00:00:00.000000Z",' +
      '"stageTimestamp":"1970-01-01T00:00:00.001000Z","annotations":{"a":"1","b":"2"}}',
  );
  expect(event.byteCount).toBe(textOf(event.members).length);
});

test('an event that is truncated has neither object, and says so', () => {
  const event = eventOf({ requestObject: [bytes('{}')], annotations: new Map([['a', '1']]) });
  const json = jsonOf(event.truncated('t').members);
  expect(json).toMatchObject({ annotations: { a: '1', t: 'true' } });
  expect(json).not.toHaveProperty('requestObject');
});

test.each([
  ['{"a":"b"}\n', '{"a":"b"}'],
  ['{\n  "a": "b\\n"\r\n}\n', '{   "a": "b\\n"  } '],
])('recorded JSON is one line: %j', (given, shown) => {
  expect(textOf(recordedJson([bytes(given)], { omitsManagedFields: false }))).toBe(shown);
});

test('JSON without newlines is the very same bytes', () => {
  const piece = bytes('{"metadata":{"managedFields":[]}}');
  expect(recordedJson([piece], { omitsManagedFields: false })[0]).toBe(piece);
});

const owned = { name: 'x', managedFields: [{ manager: 'm' }] };
test.each([
  [
    { kind: 'Pod', metadata: owned },
    { kind: 'Pod', metadata: { name: 'x' } },
  ],
  [{ items: [{ metadata: owned }, {}] }, { items: [{ metadata: { name: 'x' } }, {}] }],
  [
    { rows: [{ object: { metadata: owned } }] },
    { rows: [{ object: { metadata: { name: 'x' } } }] },
  ],
  [
    { data: { managedFields: 'kept' }, big: 9007199254740993n },
    { data: { managedFields: 'kept' }, big: '9007199254740993' },
  ],
])('managed fields are left out: %#', (given, shown) => {
  const text = JSON.stringify(given, (_key, value: unknown) =>
    typeof value === 'bigint' ? '@9007199254740993@' : value,
  ).replace(/"@(\d+)@"/, '$1');
  const written = textOf(recordedJson([bytes(text)], { omitsManagedFields: true }));
  const expected = JSON.stringify(shown).replace('"9007199254740993"', '9007199254740993');
  expect(written).toBe(expected);
});

test('a legacy line is a part of the event, quoted', () => {
  const event = eventOf({ userAgent: 'a "b"\n', objectRef: ref });
  expect(legacyLine(event.fields)).toBe(
    '1970-01-01T00:00:00.000Z AUDIT: id="a-1" stage="ResponseComplete" ip="10.0.0.9" ' +
      'method="list" user="jane" groups="\\"g\\"" as="<self>" asgroups="<lookup>" ' +
      'user-agent="a \\"b\\"\\n" ' +
      'namespace="a" uri="/api/v1/pods" response="200"',
  );
  const nobody = eventOf({ user: {}, sourceIPs: [], responseStatus: undefined });
  expect(legacyLine(nobody.fields)).toMatch(/ip="<unknown>" .* user="<none>" groups="<none>"/);
  expect(legacyLine(nobody.fields)).toMatch(/namespace="<none>" .* response="<deferred>"$/);
});
