import { describe, expect, test } from '@jest/globals';
import { namingProfile } from '../api/vendor.ts';
import { createEncodings } from '../codec/encodings.ts';
import { readYaml } from '../codec/yaml-reader.ts';
import { featureGates } from '../config/gates.ts';
import { request1, startTestServer } from './testing/test-server.ts';
import type { TestAnswer } from './testing/test-server.ts';
import { createZPages } from './z-pages.ts';

const naming = namingProfile('kubernetes');
const startedAtMs = Date.UTC(2026, 0, 5, 7, 8, 9);
const pagesOf = (gates: Readonly<Record<string, string>> = {}): ReturnType<typeof createZPages> =>
  createZPages({
    naming,
    clock: { nowMs: () => startedAtMs + 3_725_900 },
    startedAtMs,
    version: {
      gitVersion: 'v1.36.0+svc',
      goVersion: 'node v24',
      emulationMajor: '1',
      emulationMinor: '36',
      minCompatibilityMajor: '1',
      minCompatibilityMinor: '35',
    },
    flags: new Map([
      ['secure-port', '6443'],
      ['naming', 'kubernetes'],
      ['client-ca-file', ''],
    ]),
    paths: ['/livez', '/livez/etcd', '/metrics'],
    encodings: createEncodings(naming),
    gates: featureGates(new Map(Object.entries(gates))),
  });

async function answerOf(path: string, headers: Record<string, string> = {}): Promise<TestAnswer> {
  const page = pagesOf().get(path);
  if (page === undefined) throw new Error(path);
  await using server = await startTestServer({ filters: [page] });
  return await request1(server, path, { headers });
}

const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility ' +
  'guarantees and is for debugging purposes only.';
const statuszText = `
kube-apiserver statusz
${warning}

Started: Mon Jan  5 07:08:09 UTC 2026
Up: 1 hr 02 min 05 sec
Go version: node v24
Binary version: 1.36.0
Emulation version: 1.36
Paths: /flagz /livez /metrics /statusz
`;
const flagzText = `
kube-apiserver flags
${warning}

client-ca-file=
naming=kubernetes
secure-port=6443
`;

test.each([
  ['/statusz', undefined, statuszText],
  ['/statusz', '*/*', statuszText],
  ['/statusz', 'application/json, text/plain', statuszText],
  ['/flagz', 'text/*', flagzText],
])('%s for %s is text', async (path, accept, text) => {
  const { status, headers, body } = await answerOf(path, accept === undefined ? {} : { accept });
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(body.toString()).toBe(text);
});

describe.each(['v1beta1', 'v1alpha1'])('as a document of %s', (version) => {
  const statusz = {
    kind: 'Statusz',
    apiVersion: `config.k8s.io/${version}`,
    metadata: { name: 'kube-apiserver' },
    startTime: '2026-01-05T07:08:09Z',
    uptimeSeconds: 3725,
    goVersion: 'node v24',
    binaryVersion: '1.36.0',
    emulationVersion: '1.36',
    minimumCompatibilityVersion: '1.35',
    paths: ['/flagz', '/livez', '/metrics', '/statusz'],
  };
  const flagz = {
    kind: 'Flagz',
    apiVersion: `config.k8s.io/${version}`,
    metadata: { name: 'kube-apiserver' },
    flags: { 'client-ca-file': '', naming: 'kubernetes', 'secure-port': '6443' },
  };
  test.each([
    ['/statusz', statusz],
    ['/flagz', flagz],
  ])('%s', async (path, expected) => {
    const form = `g=config.k8s.io;v=${version};as=${expected.kind}`;
    const json = await answerOf(path, { accept: `application/json;${form}` });
    expect(json.headers['content-type']).toBe('application/json');
    expect(json.body.toString()).toBe(JSON.stringify(expected));
    const yaml = await answerOf(path, { accept: `application/yaml;${form}` });
    expect(yaml.headers['content-type']).toBe('application/yaml');
    expect(readYaml(yaml.body.toString()).value).toEqual(expected);
  });
});

test('a document is pretty for people', async () => {
  const accept = 'application/json;g=config.k8s.io;v=v1beta1;as=Flagz';
  const { body } = await answerOf('/flagz', { accept, 'user-agent': 'curl/8' });
  expect(body.toString()).toMatch(/^\{\n {2}"kind": "Flagz",\n/);
});

test.each([
  'application/json',
  'application/json;g=config.k8s.io;v=v1;as=Statusz',
  'application/json;g=config.k8s.io;v=v1beta1;as=Flagz',
  'application/json;g=other;v=v1beta1;as=Statusz',
  'application/vnd.kubernetes.protobuf;g=config.k8s.io;v=v1beta1;as=Statusz',
  'text/html',
])('/statusz for %s is 406', async (accept) => {
  const { status, body } = await answerOf('/statusz', { accept });
  expect([status, JSON.parse(body.toString())]).toMatchObject([406, { reason: 'NotAcceptable' }]);
});

test.each([
  ['ComponentFlagz', ['/statusz']],
  ['ComponentStatusz', ['/flagz']],
])('without %s there are %j', (gate, paths) => {
  expect([...pagesOf({ [gate]: 'false' }).keys()]).toEqual(paths);
});
