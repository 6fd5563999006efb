// Who asks and what is noted of it, as audit events tell it.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admissionChain } from '../admission/chain.ts';
import type { AdmissionPlugin } from '../admission/plugin.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { sendTo } from './testing/api-on-etcd.ts';
import { startApiServer } from './testing/api-server.ts';
import { Auditing } from './testing/auditing.ts';

const maps = '/api/v1/namespaces/default/configmaps';
let registry: RegistryOnEtcd;
let replica: Replica;
beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
});
afterAll(() => registry.stop());

describe('who asks', () => {
  const user = { name: 'jane', uid: '', groups: ['g'], extra: { k: ['v'] } };

  test('of refused credentials is nobody: one event, as the answer begins', async () => {
    const { scheme } = replica;
    const own = new Auditing(scheme, { rules: [{ level: 'RequestResponse' }] });
    await using server = await startApiServer(replica, {
      auditor: own.auditor,
      authenticator: { name: 't', authenticate: () => ({ outcome: 'rejected', reason: 'no' }) },
    });
    const headers = { authorization: 'Bearer bad' };
    const answer = await sendTo(server, `GET ${maps}/x`, { headers });
    expect(answer.status).toBe(401);
    const [event, ...more] = own.events();
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      stage: 'ResponseStarted',
      user: {},
      objectRef: { resource: 'configmaps', name: 'x' },
      responseStatus: { code: 401, reason: 'Unauthorized', message: 'Unauthorized' },
    });
    expect(event).not.toHaveProperty('annotations');
  });

  test('is told with all that is known, and refused with the reason', async () => {
    const { scheme, naming } = replica;
    const own = new Auditing(scheme, { rules: [{ level: 'Metadata' }] });
    await using server = await startApiServer(replica, {
      auditor: own.auditor,
      authenticator: { name: 't', authenticate: () => ({ outcome: 'accepted', user }) },
      authorizer: { name: 't', authorize: () => ({ effect: 'noOpinion', reason: 'no rule' }) },
    });
    await sendTo(server, `GET ${maps}/x`);
    expect(own.events().at(-1)).toMatchObject({
      user: { username: 'jane', groups: ['g'], extra: { k: ['v'] } },
      responseStatus: { code: 403 },
      annotations: {
        [naming.decisionAuditAnnotation]: 'forbid',
        [naming.reasonAuditAnnotation]: 'no rule',
      },
    });
  });
});

test('what admission notes of a write is among its annotations, and of nobody else', async () => {
  const noting: AdmissionPlugin = {
    name: 'Noting',
    sideEffects: false,
    handles: () => true,
    validate(request) {
      request.annotate('test/noted', `${request.operation} ${request.name}`);
    },
  };
  const guarded = await registry.replica({ admission: admissionChain([noting]) });
  const own = new Auditing(guarded.scheme, { rules: [{ level: 'Metadata' }] });
  await using server = await startApiServer(guarded, { auditor: own.auditor });
  await sendTo(server, `POST ${maps}`, { body: { metadata: { name: 'noted' } } });
  await sendTo(server, `GET ${maps}/noted`);
  await sendTo(server, `DELETE ${maps}/noted`);
  const notes = own
    .events()
    .filter(({ stage }) => stage === 'ResponseComplete')
    .map(({ annotations }) => annotations?.['test/noted']);
  expect(notes).toEqual(['CREATE noted', undefined, 'DELETE noted']);
});
