// A policy of pods holds on every path that writes what it judges: no subresource lets a container
// or its size past it (CVE-2023-2727, CVE-2023-2728, CVE-2024-3177).
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestCluster } from './harness.ts';
import type { Reply } from './harness.ts';

const registration = '/apis/admissionregistration.k8s.io/v1';
const pods = '/api/v1/namespaces/default/pods';
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start();
  const spec = {
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['pods', 'pods/ephemeralcontainers', 'pods/resize'],
        },
      ],
    },
    variables: [
      {
        name: 'all',
        expression:
          'object.spec.containers.map(c, c.image) + ' +
          'object.spec.?ephemeralContainers.orValue([]).map(c, c.image)',
      },
    ],
    validations: [
      { expression: "variables.all.all(i, i != 'bad')", message: 'a bad image' },
      {
        expression:
          "object.spec.containers.all(c, quantity(c.?resources.?limits.?cpu.orValue('0'))" +
          ".compareTo(quantity('2')) <= 0)",
        message: 'too large',
      },
    ],
  };
  await done('POST', `${registration}/validatingadmissionpolicies`, {
    metadata: { name: 'p' },
    spec,
  });
  await done('POST', `${registration}/validatingadmissionpolicybindings`, {
    metadata: { name: 'p' },
    spec: { policyName: 'p', validationActions: ['Deny'] },
  });
  const resources = { requests: { cpu: '500m' }, limits: { cpu: '1' } };
  const containers = [{ name: 'c', image: 'good', resources }];
  await until(() => send('POST', pods, { metadata: { name: 'x' }, spec: { containers } }));
}, 60_000);
afterAll(() => cluster?.stop());

const send = (method: string, path: string, body?: object): Promise<Reply> =>
  cluster.replica(0).request(method, path, {
    body,
    ...(method === 'PATCH'
      ? { headers: { 'content-type': 'application/strategic-merge-patch+json' } }
      : {}),
  });
async function done(method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await send(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${text}`);
}
/** Until there is an account for pods. */
async function until(attempt: () => Promise<Reply>): Promise<void> {
  for (let round = 0; round < 200; round++) {
    if ((await attempt()).status === 201) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('never made');
}

const ephemeral = { spec: { ephemeralContainers: [{ name: 'd', image: 'bad' }] } };
const bad = { spec: { containers: [{ name: 'c', image: 'bad' }] } };
const more = { requests: { cpu: '500m' }, limits: { cpu: '3' } };
const large = { spec: { containers: [{ name: 'c', resources: more }] } };
test.each([
  ['a debugging container', 'PATCH', 'x/ephemeralcontainers', ephemeral, 'a bad image'],
  ['an image', 'PATCH', 'x', bad, 'a bad image'],
  ['a resize', 'PATCH', 'x/resize', large, 'too large'],
  ['a pod', 'POST', '', { metadata: { name: 'y' }, ...bad }, 'a bad image'],
])('v.match: %s is judged: %s of "%s"', async (_what, method, path, body, message) => {
  const reply = await send(method, path === '' ? pods : `${pods}/${path}`, body);
  expect([reply.status, reply.json<{ message: string }>().message]).toEqual([
    422,
    expect.stringMatching(
      new RegExp(`ValidatingAdmissionPolicy 'p' .*denied request: ${message}$`),
    ),
  ]);
});

test.each([
  ['PUT', 'x/ephemeralcontainers', 'a bad image'],
  ['PUT', 'x/resize', 'too large'],
])('%s of "%s" is judged as its patch is', async (method, path, message) => {
  const pod = (await send('GET', `${pods}/x`)).json<{ spec: { containers: object[] } }>();
  const spec = {
    ...pod.spec,
    ...(path === 'x/resize'
      ? { containers: pod.spec.containers.map((one) => ({ ...one, ...large.spec.containers[0] })) }
      : ephemeral.spec),
  };
  const reply = await send(method, `${pods}/${path}`, { ...pod, spec });
  expect([reply.status, reply.text]).toEqual([422, expect.stringContaining(message)]);
});
