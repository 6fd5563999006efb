// A subresource with a kind of its own, from its record alone: bodies, answers, verbs, documents.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { notFound } from '../base/status.ts';
import { objectItem } from '../registry/converted-item.ts';
import { readBody } from '../registry/incoming.ts';
import type { CreateRequest } from '../registry/requests.ts';
import type { Subresource } from '../registry/verb-target.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { ApiOnEtcd } from './testing/api-on-etcd.ts';
import type { ApiAnswer } from './testing/api-on-etcd.ts';

let api: ApiOnEtcd;
let created: CreateRequest[] = [];

beforeAll(async () => {
  api = await ApiOnEtcd.start((replica) => ({
    stores: replica.stores.all.map((store) =>
      store.resource.group === '' && store.resource.resource === 'serviceaccounts'
        ? { ...store, subresources: new Map([['token', tokens(replica)]]) }
        : store,
    ),
  }));
});
afterAll(() => api.stop());

/** Takes and answers TokenRequests. */
function tokens({ scheme }: Replica): Subresource {
  const kind = {
    group: scheme.profile.resolve('authentication.{v}'),
    version: 'v1',
    kind: 'TokenRequest',
  };
  const type = scheme.kind(kind);
  const accounts = scheme.resource({ group: '', version: 'v1', resource: 'serviceaccounts' });
  if (type === undefined || accounts === undefined) throw new Error('not served');
  const resource: ResourceInfo = { ...accounts, kind, type };
  return {
    info: { name: 'token', kind, verbs: ['create'] },
    resource,
    input: resource,
    create(request) {
      if (request.path.name === 'absent') throw notFound(accounts, request.path.name);
      const { options, warnings } = request;
      const body = readBody(resource, request.body, options.fieldValidation, warnings);
      const spec = body['spec'] as JsonObject;
      created.push(request);
      const object = {
        kind: kind.kind,
        apiVersion: apiVersionOf(kind),
        spec,
        status: { token: 't' },
      };
      return Promise.resolve({ item: objectItem(object, resource, 0), created: true });
    },
  };
}

const path = '/api/v1/namespaces/n/serviceaccounts/a/token';
const request = { spec: { audiences: ['x'] } };

function send(line: string, body: object, accept?: string): Promise<ApiAnswer> {
  created = [];
  return api.send(line, { body, ...(accept === undefined ? {} : { accept }) });
}

describe('a subresource with a kind of its own', () => {
  test('takes bodies of that kind and answers them, and knows its parent', async () => {
    const answer = await send(`POST ${path}`, request);
    expect([answer.status, answer.json]).toMatchObject([
      201,
      { kind: 'TokenRequest', spec: { audiences: ['x'] }, status: { token: 't' } },
    ]);
    expect(created[0]?.path).toEqual({ namespace: 'n', name: 'a', subresource: 'token' });
  });

  test('refuses bodies of its parent’s kind, and failures are its own', async () => {
    const body = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'a' } };
    const answer = await send(`POST ${path}`, body);
    expect(answer.status).toBe(400);
    expect(created).toEqual([]);
    expect((await send(`POST ${path.replace('/a/', '/absent/')}`, request)).status).toBe(404);
  });

  test('answers in other encodings', async () => {
    const answer = await send(`POST ${path}`, request, 'application/vnd.svc.protobuf');
    expect(answer.status).toBe(201);
    expect(answer.body.subarray(0, 3).toString()).toBe('k8s');
  });

  test.each(['GET', 'PUT', 'PATCH', 'DELETE'])('%s is 405: it has no such verb', async (method) => {
    expect((await send(`${method} ${path}`, request)).status).toBe(405);
  });

  test('is listed with its kind, and nothing else of the parent is', async () => {
    const { json } = await api.send('GET /api/v1');
    const { resources } = json as { resources: { name: string }[] };
    const listed = resources.filter(({ name }) => name.startsWith('serviceaccounts/'));
    expect(listed).toEqual([
      expect.objectContaining({
        name: 'serviceaccounts/token',
        kind: 'TokenRequest',
        verbs: ['create'],
      }),
    ]);
  });
});
