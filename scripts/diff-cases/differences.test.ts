// Every part of an answer that clients read is compared, and nothing that only one server can know.
import { expect, test } from '@jest/globals';
import { differences } from './differences.ts';
import { normalOutcome, observedOutcome } from './observed.ts';
import { expectedOutcome } from './recording.ts';
import type { RecordedCase } from './recording.ts';

const kind = 'v1/configmaps';
const real = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'm', uid: '<uuid>', creationTimestamp: '<now>' },
  data: { a: '1', b: '2' },
};
const bases = new Map([['m', { id: 'm', k: kind, object: {}, real }]]);
const recording = { kinds: new Map(), bases, cases: [] };
const head = { id: 'v1', c: 'b', t: 'create' as const, k: kind };

/** What differs between a recorded answer and that of a server. */
function found(
  recorded: Omit<RecordedCase, keyof typeof head>,
  answer: { status: number; body: object; warnings?: string[] },
): readonly string[] {
  const { status, body, warnings = [] } = answer;
  const expected = normalOutcome(expectedOutcome(recording, { ...head, ...recorded }));
  return differences(
    expected,
    observedOutcome({ status, text: JSON.stringify(body), warnings }, recorded.g === true),
  );
}

const stored = {
  ...real,
  metadata: {
    name: 'm',
    uid: '3c0a1c2e-9d2b-4a43-8a4f-0f4f7a1b2c3d',
    creationTimestamp: new Date().toISOString(),
    resourceVersion: '7',
    managedFields: [],
  },
};

test.each([
  ['the same object', {}, stored, []],
  [
    'a member less',
    {},
    { ...stored, data: { a: '1' } },
    ['object.data.b: expected 2, found nothing'],
  ],
  [
    'another value',
    {},
    { ...stored, data: { a: '1', b: '3' } },
    ['object.data.b: expected 2, found 3'],
  ],
  ['a recorded change', { o: [[['data', 'b']]] }, { ...stored, data: { a: '1' } }, []],
  [
    'a time that is not now',
    { o: [[['metadata', 'creationTimestamp'], '2001-02-03T04:05:06Z']] },
    stored,
    ['object.metadata.creationTimestamp: expected 2001-02-03T04:05:06Z, found <now>'],
  ],
] as const)('%s', (_name, recorded, body, expected) => {
  const r = { s: 201, ...recorded };
  expect(found({ b: 'm', r }, { status: 201, body })).toEqual(expected);
});

const refusal = {
  kind: 'Status',
  apiVersion: 'v1',
  reason: 'Invalid',
  details: {
    name: 'm',
    kind: 'ConfigMap',
    causes: [{ field: 'data', reason: 'FieldValueInvalid', message: 'bad' }],
  },
};
const recordedRefusal = {
  s: 422,
  r: 'Invalid',
  C: [['data', 'Invalid', 'worded otherwise']] as const,
  d: { name: 'm', kind: 'ConfigMap' },
};

test.each([
  ['the same refusal', {}, []],
  ['another reason', { r: 'Forbidden' }, ['reason: expected Forbidden, found Invalid']],
  [
    'another cause',
    { C: [['data', 'Required', '']] as const },
    ['cause: expected data | Required', 'cause: found data | Invalid'],
  ],
  [
    'another group',
    { d: { name: 'm', kind: 'ConfigMap', group: 'g' } },
    ['details.group: expected g, found nothing'],
  ],
  ['a warning more', { w: ['299 - "old"'] }, ['number of warnings: expected 1, found 0']],
  [
    'another status',
    { s: 400 },
    ['status: expected 400, data | Invalid, found 422, data | Invalid'],
  ],
])('%s', (_name, change, expected) => {
  const r = { ...recordedRefusal, ...change };
  expect(found({ r }, { status: 422, body: refusal })).toEqual(expected);
});
