// Webhooks that answer badly, asked by a real server: what exactly a client is told under Fail and
// under Ignore, what is stored, and that other requests are served all the while.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../lib/api/type-info.ts';
import { caBundle, steady } from '../lib/admission/webhooks/testing/calling.ts';
import { RawServer, answerText } from '../lib/client/testing/raw-server.ts';
import { TestCluster } from './harness.ts';
import type { Reply } from './harness.ts';

const namespace = 'faulty';
const objects = `/api/v1/namespaces/${namespace}/configmaps`;
const reviewKind = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' };
/** All that is sent; undefined: nothing is, and the connection is closed. */
type Answering = (uid: string) => string | undefined;
type Kind = 'mutating' | 'validating';
type Policy = 'Fail' | 'Ignore';

let cluster: TestCluster;
let server: RawServer;
let answering: Answering = () => undefined;
let count = 0;

beforeAll(async () => {
  cluster = await TestCluster.start({
    serverFlags: ['--admission-webhook-circuit-breaker=false'],
  });
  server = await RawServer.start(({ body, socket }) => {
    const { request } = JSON.parse(body) as { request: { uid: string } };
    const answer = answering(request.uid);
    if (answer === undefined) socket.destroy();
    else socket.write(Buffer.from(answer));
  });
  await post('/api/v1/namespaces', { metadata: { name: namespace } });
  for (const kind of ['mutating', 'validating'] as const) {
    for (const policy of ['Fail', 'Ignore'] as const) await configure(kind, policy);
  }
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await cluster.stop();
});

const post = (path: string, body: object): Promise<Reply> =>
  cluster.replica(0).request('POST', path, { body });

async function configure(kind: Kind, failurePolicy: Policy): Promise<void> {
  const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`;
  const hook = `${kind}-${failurePolicy}`.toLowerCase();
  const webhook = {
    name: 'faulty.example.com',
    clientConfig: { url: server.url, caBundle: await caBundle() },
    objectSelector: { matchLabels: { hook } },
    rules: [
      { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
    ],
    failurePolicy,
    timeoutSeconds: 1,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const made = await post(path, { metadata: { name: hook }, webhooks: [webhook] });
  expect(made.status).toBe(201);
}

/** One write that the webhook is asked about, beside one that it is not. */
async function written(kind: Kind, policy: Policy, answer: Answering): Promise<Reply> {
  answering = answer;
  count += 1;
  const labels = { hook: `${kind}-${policy}`.toLowerCase() };
  const [asked, other] = await Promise.all([
    post(objects, { metadata: { name: `asked-${String(count)}`, labels }, data: { k: 'v' } }),
    post(objects, { metadata: { name: `other-${String(count)}` } }),
  ]);
  expect(other.status).toBe(201);
  return asked;
}

/** `201`, or the code, reason and message of the refusal. */
function told(reply: Reply): string {
  if (reply.status === 201) return '201';
  const { reason, message } = reply.json<{ reason: string; message: string }>();
  const text = steady(message).replaceAll(/"[\da-f]{8}-[\da-f-]{27}"/g, '"UID"');
  return `${String(reply.status)} ${reason}: ${text.replace(`asked-${String(count)}`, 'NAME')}`;
}

const reviewed =
  (response: object, kind: object = reviewKind): Answering =>
  (uid) =>
    answerText(JSON.stringify({ ...kind, response: { uid, allowed: true, ...response } }));
const raw =
  (text: string, options?: Parameters<typeof answerText>[1]): Answering =>
  () =>
    answerText(text, options);
const patchText = (text: string): Answering =>
  reviewed({ patchType: 'JSONPatch', patch: Buffer.from(text).toString('base64') });
const patch = (...operations: readonly object[]): Answering =>
  patchText(JSON.stringify(operations));
const replace = (path: string, value: unknown): Answering => patch({ op: 'add', path, value });
const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

const internal = '500 InternalError: Internal error occurred:';
const failed = `${internal} failed calling webhook "faulty.example.com": `;
const invalid = `${failed}received invalid webhook response: `;
const unreadable = `${failed}failed to call webhook: the answer is no AdmissionReview: `;
const called = `${failed}failed to call webhook: Post "https://127.0.0.1:PORT/hook?timeout=1s": `;
const undecodable = `${failed}received undecodable patch in webhook response: `;
const wrongReview =
  `${invalid}expected webhook response of admission.k8s.io/v1, ` + 'Kind=AdmissionReview, got ';
const badOperation = `${undecodable}invalid operation 0 of the JSON patch: `;
const badPath = `${badOperation}"path" must be a JSON pointer such as /metadata/labels/a`;
const broken = `${internal} admission webhook "faulty.example.com": `;
const unfit = `${broken}the JSON patch does not fit the object: operation 0 `;
const at = (step: string): string =>
  ` (configuration "validating-fail", address 127.0.0.1:PORT, step ${step}, N ms)`;

describe('h.failurePolicy: an answer that is none refuses, or is passed over', () => {
  test.each<[what: string, Kind, Answering, told: string]>([
    [
      'of a wrong uid',
      'validating',
      (_uid) => reviewed({ uid: 'x' })(_uid),
      `${invalid}expected response.uid="UID", got "x"`,
    ],
    [
      'of a wrong kind',
      'validating',
      reviewed({}, { ...reviewKind, kind: 'Review' }),
      `${wrongReview}admission.k8s.io/v1, Kind=Review`,
    ],
    [
      'of a wrong version',
      'validating',
      reviewed({}, { ...reviewKind, apiVersion: 'admission.k8s.io/v1beta1' }),
      `${wrongReview}admission.k8s.io/v1beta1, Kind=AdmissionReview`,
    ],
    ['of no kind', 'validating', reviewed({}, {}), `${wrongReview}, Kind=`],
    [
      'without a response',
      'validating',
      raw(JSON.stringify(reviewKind)),
      `${invalid}webhook response was absent`,
    ],
    ['that is not JSON', 'validating', raw('<html>'), `${unreadable}the body is not valid JSON`],
    [
      'that is empty',
      'validating',
      raw(''),
      `${unreadable}the body is empty, a JSON object is needed`,
    ],
    [
      'that is a list',
      'validating',
      raw('[]'),
      `${unreadable}AdmissionReview cannot be read: it must be an object, not a list`,
    ],
    [
      'of deep JSON',
      'validating',
      raw(`{"response":${deep(100_000)}}`),
      `${unreadable}the body nests deeper than 100 levels`,
    ],
    [
      'that has __proto__',
      'validating',
      raw('{"__proto__":{"response":{"allowed":true}}}'),
      `${invalid}webhook response was absent`,
    ],
    [
      'with a wrong type',
      'validating',
      reviewed({ allowed: 'yes' }),
      `${unreadable}AdmissionReview cannot be read: response.allowed must be true or false, ` +
        'not a string',
    ],
    [
      'a redirect',
      'validating',
      raw('', { status: '307 Temporary Redirect', headers: ['location: https://127.0.0.1:1/'] }),
      `${called}the answer is a redirect (307), which is never followed${at('wait')}`,
    ],
    [
      'an error',
      'validating',
      raw('the-secret', { status: '500 Oops' }),
      `${failed}failed to call webhook: an error on the server ("unknown") has prevented ` +
        `the request from succeeding${at('read')}`,
    ],
    ['none: it closes', 'validating', () => undefined, `${called}EOF${at('wait')}`],
    [
      'hanging midway',
      'validating',
      () => 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx',
      `${called}context deadline exceeded${at('read')}`,
    ],
    [
      'said to be endless',
      'validating',
      () => 'HTTP/1.1 200 OK\r\ncontent-length: 6291457\r\n\r\n',
      `${called}the body of the answer is larger than 6291456 bytes${at('read')}`,
    ],
    [
      'of bad base64',
      'mutating',
      reviewed({ patchType: 'JSONPatch', patch: '%%%' }),
      `${unreadable}AdmissionReview cannot be read: response.patch must be base64 with padding`,
    ],
    [
      'of half base64',
      'mutating',
      reviewed({ patchType: 'JSONPatch', patch: 'W10' }),
      `${unreadable}AdmissionReview cannot be read: response.patch must be base64 with padding`,
    ],
    [
      'of a patch that is no JSON',
      'mutating',
      patchText('[{'),
      `${undecodable}the body is not valid JSON: unexpected text at character 2`,
    ],
    [
      'of a deep patch',
      'mutating',
      patchText(deep(100_000)),
      `${undecodable}the body nests deeper than 100 levels`,
    ],
    [
      'of an unknown operation',
      'mutating',
      patch({ op: 'merge', path: '/data', value: {} }),
      `${badOperation}"op" must be one of add, remove, replace, move, copy, test`,
    ],
    ['of an operation without path', 'mutating', patch({ op: 'add', value: {} }), badPath],
    ['of a path that is no pointer', 'mutating', patch({ op: 'remove', path: 'data' }), badPath],
    [
      'of 10,001 operations',
      'mutating',
      patch(...Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/k', value: 'v' }))),
      `${undecodable}Request entity is too large: a JSON patch may hold 10000 operations, ` +
        'this one has 10001',
    ],
    [
      'of another patch type',
      'mutating',
      reviewed({ patchType: 'MergePatch', patch: 'e30=' }),
      `${undecodable}a JSON patch must be a list of operations`,
    ],
    [
      'of a patch without type',
      'mutating',
      reviewed({ patch: 'W10=' }),
      `${invalid}webhook returned response.patch but not response.patchType`,
    ],
  ])('%s', async (_what, kind, answer, message) => {
    const ignored = await written(kind, 'Ignore', answer);
    const refused = told(await written(kind, 'Fail', answer));
    expect([refused, told(ignored)]).toEqual([message, '201']);
  });
});

describe('h.patch: what a patch breaks refuses under both policies', () => {
  test.each<[what: string, Answering, told: string]>([
    [
      'removes what is not there',
      patch({ op: 'remove', path: '/data/none' }),
      `${unfit}(remove "/data/none"): there is no "none"`,
    ],
    [
      'tests in vain',
      patch({ op: 'test', path: '/data/k', value: 'w' }),
      `${unfit}(test "/data/k"): the value is another one`,
    ],
    [
      'makes another kind',
      replace('/kind', 'Secret'),
      `${broken}the patch makes v1, Kind=Secret of v1, Kind=ConfigMap`,
    ],
    [
      'makes no object',
      patch({ op: 'replace', path: '', value: 7 }),
      `${broken}ConfigMap cannot be read: it must be an object, not an integer`,
    ],
    [
      'makes nothing',
      patch({ op: 'remove', path: '' }),
      `${unfit}(remove ""): the whole object cannot be removed`,
    ],
    [
      'gives a wrong type',
      replace('/data/k', 7),
      `${broken}ConfigMap cannot be read: data.k must be a string, not an integer`,
    ],
    [
      'removes the name',
      patch({ op: 'remove', path: '/metadata/name' }),
      '422 Invalid: ConfigMap "" is invalid: metadata.name: Required value: name or ' +
        'generateName is required',
    ],
    [
      'changes the namespace',
      replace('/metadata/namespace', 'default'),
      '400 BadRequest: the namespace of the provided object does not match the namespace ' +
        'sent on the request',
    ],
    [
      'makes an invalid label',
      replace('/metadata/labels/x', 'no label'),
      '422 Invalid: ConfigMap "NAME" is invalid: metadata.labels: Invalid value: "no label": ' +
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' " +
        "or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or " +
        "'my_value',  or '12345', regex used for validation is " +
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
    [
      'copies without end',
      patch(
        { op: 'add', path: '/data/x', value: 'x'.repeat(1_000_000) },
        ...Array.from({ length: 40 }, (_, index) => ({
          op: 'copy',
          from: '/data/x',
          path: `/data/x${String(index)}`,
        })),
      ),
      `${broken}Request entity is too large: copy operations of a JSON patch may add 3145728 bytes`,
    ],
    [
      'goes below __proto__',
      replace('/__proto__/polluted', true),
      `${unfit}(add "/__proto__/polluted"): there is no "__proto__"`,
    ],
    [
      'goes below constructor',
      replace('/constructor/prototype/polluted', true),
      `${unfit}(add "/constructor/prototype/polluted"): there is no "constructor"`,
    ],
    [
      'goes below the prototype of data',
      replace('/data/__proto__/polluted', 'x'),
      `${unfit}(add "/data/__proto__/polluted"): there is no "__proto__"`,
    ],
  ])('%s', async (_what, answer, message) => {
    const refused = told(await written('mutating', 'Fail', answer));
    const ignored = told(await written('mutating', 'Ignore', answer));
    expect([refused, ignored]).toEqual([message, message]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('what a patch may not decide is as it would be without it', () => {
  test.each<[what: string, Answering, hold: (object: JsonObject) => void]>([
    [
      'another name, which is the name then',
      replace('/metadata/name', 'given'),
      ({ metadata }) => expect((metadata as JsonObject)['name']).toBe('given'),
    ],
    [
      'the uid',
      replace('/metadata/uid', 'mine'),
      ({ metadata }) => expect((metadata as JsonObject)['uid']).toMatch(/^[\da-f-]{36}$/),
    ],
    [
      'managedFields that are none',
      replace('/metadata/managedFields', [{ manager: 'x', fieldsV1: { 'f:a': 7 } }]),
      ({ metadata }) =>
        expect((metadata as JsonObject)['managedFields']).toMatchObject([{ operation: 'Update' }]),
    ],
    [
      'the key __proto__, which is data',
      patchText('[{"op":"add","path":"/data","value":{"__proto__":"x","k":"v"}}]'),
      ({ data }) => expect(JSON.stringify(data)).toBe('{"__proto__":"x","k":"v"}'),
    ],
  ])('%s', async (_what, answer, hold) => {
    const reply = await written('mutating', 'Fail', answer);
    expect(told(reply)).toBe('201');
    hold(reply.json<JsonObject>());
  });
});

describe('h.warnings: what answers say', () => {
  test('n.warningsPerAnswer: 100 of 1,000 warnings are passed on', async () => {
    const warnings = Array.from({ length: 1_000 }, (_, at) => `w${String(at)}`);
    const reply = await written('validating', 'Fail', reviewed({ warnings }));
    expect(reply.status).toBe(201);
    const given = String(reply.headers['warning']).split(', ');
    expect([given.length, given[0], given.at(-1)]).toEqual([100, '299 - "w0"', '299 - "w99"']);
  });
  test('control characters of warnings and messages break no header and no body', async () => {
    const text = 'a\r\nx-injected: 1\u0000\u001B[31m"\\';
    const answer = reviewed({ allowed: false, warnings: [text], status: { message: text } });
    const reply = await written('validating', 'Fail', answer);
    expect(reply.headers['x-injected']).toBeUndefined();
    expect(reply.headers['warning']).toBe('299 - "a  x-injected: 1  [31m\\"\\\\"');
    expect(reply.json<{ message: string }>().message).toBe(
      `admission webhook "faulty.example.com" denied the request: ${text}`,
    );
  });
});
