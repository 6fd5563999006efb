// Certificate signing requests: who asks, who decides, who signs.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { jsonCodec } from '../codec/json.ts';
import { parseWriteOptions } from './options.ts';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { base64, leafPem, signingRequestPem } from './testing/sample-certificates.ts';
import { bytesOf, causesOf, fresh, params, scope, sent } from './testing/verb-driver.ts';
import { VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let store: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  store = replica.store(replica.naming.resolve('certificates.{v}/certificatesigningrequests'));
});

afterAll(async () => {
  await registry.stop();
});

type Members = Record<string, unknown>;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const certificate = base64(leafPem);
const update = async (
  resources: ResourceStore,
  name: string,
  body: object,
  more: { readonly subresource?: string } = {},
): Promise<Sent> => sent((await verbs.update(resources, name, body, more)).item);

describe('certificate signing requests', () => {
  const user = { name: 'jane', uid: 'u1', groups: ['g'], extra: { scopes: ['a'] } };
  const made = async (): Promise<Sent> => {
    const metadata = { name: fresh() };
    const request = base64(signingRequestPem);
    const spec = { request, signerName: 'a.b/c', usages: ['client auth'], username: 'eve' };
    const status = { certificate, conditions: [{ type: 'Approved', status: 'True' }] };
    const body = store.resource.type;
    const { item } = await store.create({
      ...scope(),
      user,
      path: { namespace: '', name: '', subresource: '' },
      body: jsonCodec.decode(bytesOf({ metadata, spec, status }), body),
      options: parseWriteOptions(params(''), 'create', replica.naming),
    });
    return sent(item);
  };
  const condition = (type: string): object => ({ type, status: 'True', reason: 'r', message: 'm' });

  test('state who asks, whatever the body says', async () => {
    const request = await made();
    expect(request['spec']).toMatchObject({
      username: 'jane',
      uid: 'u1',
      groups: ['g'],
      extra: { scopes: ['a'] },
    });
    expect(request['status']).toEqual({});
  });

  test('approval writes conditions alone, status leaves the decision', async () => {
    const request = await made();
    const approval = { conditions: [condition('Approved')], certificate };
    const approved = await update(
      store,
      request.metadata.name,
      { ...request, status: approval },
      { subresource: 'approval' },
    );
    const approvedStatus = {
      conditions: [
        {
          ...condition('Approved'),
          lastUpdateTime: expect.stringMatching(time),
          lastTransitionTime: expect.stringMatching(time),
        },
      ],
    };
    expect(approved['status']).toEqual(approvedStatus);
    const other = { ...condition('Approved'), reason: 'other', message: 'other' };
    const failed = { conditions: [other, condition('Failed')], certificate };
    const signed = await update(
      store,
      request.metadata.name,
      { ...approved, spec: { ...(approved['spec'] as object), username: 'eve' }, status: failed },
      { subresource: 'status' },
    );
    expect((signed['spec'] as Members)['username']).toBe('jane');
    expect((signed['status'] as Members)['certificate']).toBe(certificate);
    expect((signed['status'] as Members)['conditions']).toEqual([
      ...approvedStatus.conditions,
      expect.objectContaining(condition('Failed')),
    ]);
  });

  const forbids = 'status.conditions FieldValueForbidden';
  test.each<[string, 'status' | 'approval', readonly string[], readonly string[]]>([
    ['status takes no decision away', 'status', ['Failed'], [forbids]],
    ['nor does an approval', 'approval', [], [forbids]],
    [
      'status decides nothing',
      'status',
      ['Approved', 'Denied'],
      [forbids, 'status.conditions FieldValueInvalid'],
    ],
    [
      'one decision rules out the other',
      'approval',
      ['Approved', 'Denied'],
      ['status.conditions FieldValueInvalid'],
    ],
  ])('%s', async (_what, subresource, types, causes) => {
    const request = await made();
    const asked = request.metadata.name;
    const status = { conditions: [condition('Approved')] };
    await update(store, asked, { ...request, status }, { subresource: 'approval' });
    const current = await verbs.get(store, asked);
    const body = { ...current, status: { conditions: types.map(condition) } };
    const refused = update(store, asked, body, { subresource });
    expect((await causesOf(refused)).sort()).toEqual(causes);
  });

  test('a certificate has no headers', async () => {
    const request = await made();
    const headed = leafPem.replace('CERTIFICATE-----\n', 'CERTIFICATE-----\nA: b\n\n');
    const body = { ...request, status: { certificate: base64(headed) } };
    const refused = update(store, request.metadata.name, body, { subresource: 'status' });
    expect(await causesOf(refused)).toEqual(['status.certificate FieldValueInvalid']);
  });
});
