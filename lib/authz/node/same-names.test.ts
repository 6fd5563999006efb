import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { namesTheSame } from './same-names.ts';

const spec = { nodeName: 'n', volumes: [{ name: 'a', secret: { secretName: 's' } }] };
const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const claim = { status: { resourceClaimStatuses: [{ name: 'c', resourceClaimName: 'made' }] } };

function pod(change: JsonObject = {}, metadata: JsonObject = {}): Buffer {
  const meta = { name: 'p', namespace: 'ns', resourceVersion: '7', ...metadata };
  return Buffer.from(
    JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata: meta, spec, status, ...change }),
  );
}

test.each<[string, boolean, Buffer]>([
  ['a status', true, pod({ status: { phase: 'Failed' } })],
  ['no status', false, pod({ status: undefined as never })],
  ['labels', true, pod({}, { labels: { a: 'b' } })],
  ['a text that looks like a spec', true, pod({}, { annotations: { a: ',"spec":{}' } })],
  ['a secret', false, pod({ spec: { nodeName: 'n' } })],
  ['a node', false, pod({ spec: { ...spec, nodeName: 'other' } })],
  ['a claim that was made for it', false, pod(claim)],
  ['who runs it', false, pod({}, { annotations: { 'kubernetes.io/config.mirror': '' } })],
])('of a pod in which changed: %s, %j', (_what, isSame, changed) => {
  expect(namesTheSame(changed, pod())).toBe(isSame);
  expect(namesTheSame(pod(), changed)).toBe(isSame);
});

test('extended resources come with a claim, too', () => {
  const made = { extendedResourceClaimStatus: { resourceClaimName: 'made' } };
  expect(namesTheSame(pod({ status: made }), pod())).toBe(false);
});
