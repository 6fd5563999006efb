// Audit events of real requests over a real store: what each level shows of each verb.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import https from 'node:https';
import { once } from 'node:events';
import WebSocket from 'ws';
import { ApiOnEtcd } from './testing/api-on-etcd.ts';
import type { ApiAnswer, SentRequest } from './testing/api-on-etcd.ts';
import { Auditing } from './testing/auditing.ts';
import type { ReadEvent } from './testing/auditing.ts';
import { eventually } from './testing/test-server.ts';

let api: ApiOnEtcd;
let auditing: Auditing;
const maps = '/api/v1/namespaces/default/configmaps';
const policy = {
  rules: [
    { level: 'None', nonResourceURLs: ['/healthz*'] },
    { level: 'None', verbs: ['get'], resources: [{ group: '', resources: ['nodes'] }] },
    { level: 'Metadata', resources: [{ group: '', resources: ['secrets'] }] },
    {
      level: 'Request',
      resources: [{ group: '', resources: ['configmaps'], resourceNames: ['asked'] }],
    },
    {
      level: 'RequestResponse',
      omitManagedFields: true,
      omitStages: ['RequestReceived'],
      namespaces: ['tidy'],
    },
    { level: 'RequestResponse' },
  ],
};

beforeAll(async () => {
  api = await ApiOnEtcd.start((replica) => {
    auditing = new Auditing(replica.scheme, policy);
    return { auditor: auditing.auditor };
  });
  await api.send('POST /api/v1/namespaces', { body: { metadata: { name: 'tidy' } } });
});
afterAll(() => api.stop());
afterEach(() => {
  auditing.process = () => true;
});

interface Recorded {
  readonly answer: ApiAnswer;
  readonly events: readonly ReadEvent[];
  readonly last: ReadEvent;
}

async function recorded(line: string, sent: SentRequest = {}): Promise<Recorded> {
  const id = randomUUID();
  const answer = await api.send(line, { ...sent, headers: { 'audit-id': id, ...sent.headers } });
  await eventually(() => auditing.stages(id).some((stage) => /Complete|Panic/.test(stage)));
  const events = auditing.events(id);
  const last = events.at(-1);
  if (last === undefined) throw new Error('nothing was recorded');
  return { answer, events, last };
}
const map = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});

describe('a request', () => {
  test('is recorded as it arrives and as it is answered', async () => {
    const { events, answer } = await recorded(`POST ${maps}`, {
      body: map('first', { data: { k: 'v' } }),
      headers: { 'user-agent': 'tester/1' },
    });
    expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete']);
    const [received, complete] = events;
    expect(received).toEqual({
      level: 'RequestResponse',
      auditID: answer.headers['audit-id'],
      stage: 'RequestReceived',
      requestURI: maps,
      verb: 'create',
      user: { username: 'tester', uid: '1', groups: ['system:authenticated'] },
      sourceIPs: ['127.0.0.1'],
      userAgent: 'tester/1',
      objectRef: { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' },
      requestReceivedTimestamp: received?.stageTimestamp,
      stageTimestamp: received?.stageTimestamp,
    });
    const { decisionAuditAnnotation, reasonAuditAnnotation } = api.replica.naming;
    expect(complete).toMatchObject({
      objectRef: { name: 'first' },
      responseStatus: { metadata: {}, code: 201 },
      requestObject: map('first', { data: { k: 'v' } }),
      responseObject: answer.json as object,
      annotations: { [decisionAuditAnnotation]: 'allow', [reasonAuditAnnotation]: '' },
    });
    expect(Object.keys(complete?.responseStatus ?? {})).toEqual(['metadata', 'code']);
  });

  test('that fails tells its Status', async () => {
    const { last, answer } = await recorded(`GET ${maps}/none`);
    const { status, message, reason, details, code } = answer.json as Record<string, unknown>;
    expect(last.responseStatus).toEqual({ metadata: {}, status, message, reason, details, code });
    expect(last.responseObject).toEqual(answer.json);
  });

  test('of level None is not recorded', async () => {
    auditing.clear();
    await api.send('GET /healthz');
    await api.send('GET /api/v1/nodes/x');
    expect(auditing.events()).toEqual([]);
    expect(auditing.observer.levels.slice(-2)).toEqual(['None', 'None']);
  });

  test('of a path that is no resource is recorded without an object', async () => {
    const { last } = await recorded('GET /version?pretty=1');
    expect(last).toMatchObject({ verb: 'get', requestURI: '/version?pretty=1' });
    expect(last).not.toHaveProperty('objectRef');
  });

  test('with a whole URL shows its path and query alone', async () => {
    const { events } = await recorded('GET http://example/version');
    expect(events[0]?.requestURI).toBe('/version');
  });

  test.each([
    ['x'.repeat(1_024), 'x'.repeat(1_024)],
    ['x'.repeat(1_025), `${'x'.repeat(1_024)}...TRUNCATED`],
  ])('shows a User-Agent up to its bound: %#', async (given, shown) => {
    const { last } = await recorded('GET /version', { headers: { 'user-agent': given } });
    expect(last.userAgent).toBe(shown);
  });

  test.each<readonly [Readonly<Record<string, string>>, readonly string[]]>([
    [{}, ['127.0.0.1']],
    [
      { 'x-forwarded-for': '10.0.0.1, nobody,2001:db8::1 ' },
      ['10.0.0.1', '2001:db8::1', '127.0.0.1'],
    ],
    [{ 'x-real-ip': '10.0.0.2' }, ['10.0.0.2', '127.0.0.1']],
    [{ 'x-forwarded-for': '10.0.0.1', 'x-real-ip': '10.0.0.1' }, ['10.0.0.1', '127.0.0.1']],
    [{ 'x-forwarded-for': '10.0.0.1,::ffff:127.0.0.1' }, ['10.0.0.1', '127.0.0.1']],
    [{ 'x-real-ip': '<script>' }, ['127.0.0.1']],
  ])('comes from %j: %j', async (headers, addresses) => {
    const { last } = await recorded('GET /version', { headers });
    expect(last.sourceIPs).toEqual(addresses);
  });

  test('for a deprecated kind says so', async () => {
    const { last } = await recorded('GET /api/v1/namespaces/default/endpoints');
    expect(last.annotations?.[api.replica.naming.deprecatedAuditAnnotation]).toBe('true');
  });

  test('of one name in a field selector has that name', async () => {
    const { last } = await recorded(`GET ${maps}?fieldSelector=metadata.name%3Dasked`);
    expect(last).toMatchObject({ level: 'Request', verb: 'list', objectRef: { name: 'asked' } });
    expect(last).not.toHaveProperty('responseObject');
  });
});

describe('what the level shows', () => {
  test('Metadata: neither body nor answer, though the name of the object', async () => {
    const body = {
      metadata: { name: 's', uid: 'u', resourceVersion: '' },
      stringData: { p: 'hidden' },
    };
    const { last } = await recorded('POST /api/v1/namespaces/default/secrets', { body });
    expect(last.objectRef).toMatchObject({ name: 's', uid: 'u' });
    expect(JSON.stringify(last)).not.toContain('hidden');
    const read = await recorded('GET /api/v1/namespaces/default/secrets');
    expect(read.last).not.toHaveProperty('responseObject');
  });

  test('Request: the body alone', async () => {
    const { last } = await recorded(`PUT ${maps}/asked`, { body: map('asked') });
    expect(last.level).toBe('Request');
    expect(last.requestObject).toEqual(map('asked'));
    expect(last).not.toHaveProperty('responseObject');
  });

  test('RequestResponse of an update: the version that the body names', async () => {
    const { answer } = await recorded(`POST ${maps}`, { body: map('versions') });
    const { metadata } = answer.json as { metadata: Record<string, string> };
    const { last } = await recorded(`PUT ${maps}/versions`, { body: answer.json as object });
    const { uid, resourceVersion } = metadata;
    expect(last.objectRef).toMatchObject({ uid, resourceVersion });
  });

  test.each([
    ['application/merge-patch+json', '{\n "data": {"k": "w"}\n}', { data: { k: 'w' } }],
    [
      'application/json-patch+json',
      '[{"op":"add","path":"/data","value":{"k":"x"}}]',
      [{ op: 'add', path: '/data', value: { k: 'x' } }],
    ],
  ])('RequestResponse of a patch: %s as it was sent', async (contentType, body, shown) => {
    const { last, answer } = await recorded(`PATCH ${maps}/first`, { body, contentType });
    expect(last.requestObject).toEqual(shown);
    expect(last.responseObject).toEqual(answer.json);
  });

  test('RequestResponse of an apply in YAML: as data', async () => {
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\ndata: {k: v}\n';
    const { last, answer } = await recorded(`PATCH ${maps}/applied?fieldManager=m`, {
      body,
      contentType: 'application/apply-patch+yaml',
    });
    expect(answer.status).toBe(201);
    expect(last.requestObject).toEqual(map('applied', { data: { k: 'v' } }));
  });

  test('a patch that is none is left out', async () => {
    const { last } = await recorded(`PATCH ${maps}/first`, { body: '{"a":' });
    expect(last.responseStatus?.['code']).toBe(400);
    expect(last).not.toHaveProperty('requestObject');
  });

  test('a list, a Table, and what is answered in another encoding are JSON', async () => {
    const list = await recorded(`GET ${maps}?limit=1`);
    expect(list.last.responseObject).toEqual(list.answer.json);
    const accept = `application/json;as=Table;g=${api.replica.naming.metaGroup};v=v1`;
    const table = await recorded(`GET ${maps}/first`, { accept });
    expect(table.last.responseObject).toMatchObject({ kind: 'Table', rows: [{}] });
    const shown = await recorded(`GET ${maps}/first`, { accept: 'application/yaml' });
    expect(shown.last.responseObject).toMatchObject({
      kind: 'ConfigMap',
      metadata: { name: 'first' },
    });
    const compressed = await recorded(`GET ${maps}`, { headers: { 'accept-encoding': 'gzip' } });
    expect(compressed.last.responseObject).toMatchObject({ kind: 'ConfigMapList' });
  });

  test('a deletion: its options, and the Status of success', async () => {
    await api.send(`POST ${maps}`, { body: map('gone') });
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
    const { last, answer } = await recorded(`DELETE ${maps}/gone`, { body: options });
    expect(last.requestObject).toEqual(options);
    expect(last.responseStatus).toMatchObject({ status: 'Success', code: 200 });
    expect(last.responseObject).toEqual(answer.json);
    await api.send(`POST ${maps}`, { body: map('gone') });
    expect((await recorded(`DELETE ${maps}/gone`)).last).not.toHaveProperty('requestObject');
  });

  test('a deletion of many: what was deleted', async () => {
    await api.send(`POST ${maps}`, {
      body: map('many', { metadata: { name: 'many', labels: { l: '1' } } }),
    });
    const { last, answer } = await recorded(`DELETE ${maps}?labelSelector=l%3D1`);
    expect(last.verb).toBe('deletecollection');
    expect(last.responseObject).toEqual(answer.json);
  });

  test('managed fields are left out where the rule says so, and only there', async () => {
    const tidy = '/api/v1/namespaces/tidy/configmaps';
    const { last, answer, events } = await recorded(`POST ${tidy}`, {
      body: map('a', { data: { k: 'v' } }),
    });
    expect(events.map(({ stage }) => stage)).toEqual(['ResponseComplete']);
    const { managedFields, ...rest } = (answer.json as { metadata: Record<string, unknown> })
      .metadata;
    expect(managedFields).toBeDefined();
    expect(last.responseObject?.['metadata']).toEqual(rest);
    const list = await recorded(`GET ${tidy}`);
    expect(JSON.stringify(list.last.responseObject)).not.toContain('managedFields');
    const kept = await recorded(`GET ${maps}/first`);
    expect(JSON.stringify(kept.last.responseObject)).toContain('managedFields');
  });

  test('an eviction answers a Status, and its event has it', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const { last } = await recorded(`POST ${pods}/none/eviction`, {
      body: { metadata: { name: 'none' } },
    });
    expect(last).toMatchObject({
      objectRef: { resource: 'pods', subresource: 'eviction', name: 'none' },
      responseStatus: { code: 404, status: 'Failure' },
    });
  });
});

describe('a watch', () => {
  const stagesOf = (id: string) =>
    auditing.events(id).map(({ stage, responseStatus }) => [stage, responseStatus?.['code']]);

  test('is recorded as it begins, and as its client leaves; its events are not', async () => {
    const id = randomUUID();
    const { port, ca } = api.server;
    const request = https.get({
      ...{ port, ca, host: '127.0.0.1', path: `${maps}?watch=1` },
      headers: { 'audit-id': id },
    });
    request.on('error', () => undefined);
    await once(request, 'response');
    await eventually(() => auditing.stages(id).length === 2);
    request.destroy();
    await eventually(() => auditing.stages(id).length === 3);
    expect(stagesOf(id)).toEqual([
      ['RequestReceived', undefined],
      ['ResponseStarted', 200],
      ['ResponseComplete', 200],
    ]);
    expect(auditing.events(id)[2]).not.toHaveProperty('responseObject');
  });

  test('over a WebSocket too', async () => {
    const id = randomUUID();
    const { port, ca } = api.server;
    const url = `wss://127.0.0.1:${String(port)}${maps}?watch=1`;
    const socket = new WebSocket(url, { ca, headers: { 'audit-id': id } });
    await once(socket, 'open');
    await eventually(() => auditing.stages(id).length === 2);
    socket.close();
    await eventually(() => auditing.stages(id).length === 3);
    expect(stagesOf(id)).toEqual([
      ['RequestReceived', undefined],
      ['ResponseStarted', 101],
      ['ResponseComplete', 101],
    ]);
  });

  test('that is refused begins and ends with the refusal', async () => {
    const { events } = await recorded(`GET ${maps}?watch=1&resourceVersion=x`);
    expect(events.map(({ stage }) => stage)).toEqual([
      'RequestReceived',
      'ResponseStarted',
      'ResponseComplete',
    ]);
    expect(events[1]?.responseStatus).toMatchObject({ code: 400, status: 'Failure' });
  });
});

describe('an answer', () => {
  test('waits until its events are written, where the backend says so', async () => {
    const release: (() => void)[] = [];
    auditing.process = () => new Promise((resolve) => release.push(() => resolve(true)));
    let isAnswered = false;
    const answering = recorded(`GET ${maps}/first`).then(() => (isAnswered = true));
    await eventually(() => release.length === 1);
    release[0]?.();
    await eventually(() => release.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(isAnswered).toBe(false);
    release[1]?.();
    await answering;
  });

  test('is a 500 where the request cannot be recorded, and nothing is done', async () => {
    auditing.process = () => Promise.resolve(false);
    const answer = await api.send(`POST ${maps}`, { body: map('unrecorded') });
    expect(answer.status).toBe(500);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.body.toString()).toBe(
      `Internal Server Error: "${maps}": failed to store audit event\n`,
    );
    expect(auditing.observer.lines).toContain('rejected');
    auditing.process = () => true;
    expect(await api.statusOf(`GET ${maps}/unrecorded`)).toBe(404);
  });

  test('goes out where only its own event is lost', async () => {
    auditing.process = ({ fields }) => fields.stage === 'RequestReceived';
    expect((await recorded(`GET ${maps}/first`)).answer.status).toBe(200);
  });

  test('of many requests at once: each has its own events', async () => {
    auditing.clear();
    const ids = Array.from({ length: 60 }, () => randomUUID());
    auditing.process = () =>
      new Promise((resolve) => setTimeout(() => resolve(true), Math.random() * 5));
    await Promise.all(
      ids.map((id, index) =>
        api.send(`GET ${maps}/n${String(index)}`, { headers: { 'audit-id': id } }),
      ),
    );
    for (const [index, id] of ids.entries()) {
      expect(auditing.stages(id)).toEqual(['RequestReceived', 'ResponseComplete']);
      expect(auditing.events(id)[1]?.objectRef?.['name']).toBe(`n${String(index)}`);
    }
  });
});
