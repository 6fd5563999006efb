// Who may write which roles, by every form of a write: what counts is the role as it would be
// stored.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiAnswer } from './testing/api-on-etcd.ts';
import {
  admin,
  changing,
  creating,
  formed,
  fresh,
  full,
  group,
  made,
  messageOf,
  pathOf,
  podText,
  refusal,
  role,
  rulesFrom,
  send,
  sendForm,
  userWith,
  startRoles,
  stopRoles,
} from './testing/role-writes.ts';
import type { Plural } from './testing/role-writes.ts';

beforeAll(startRoles);
afterAll(stopRoles);

describe.each<Plural>(['roles', 'clusterroles'])('%s', (plural) => {
  const isCluster = plural === 'clusterroles';
  const userHolding = (...rules: string[]): Promise<string> =>
    isCluster ? userWith([], rules) : userWith(rules);

  test.each(creating)('%s needs every right in it', async (what) => {
    const user = await userHolding(full, 'get pods');
    const name = fresh();
    const refused = await sendForm(
      user,
      formed(what, plural, name, role(plural, name, ['read pods'])),
    );
    expect([refused.status, messageOf(refused)]).toEqual([
      403,
      refusal(plural, name, user, podText),
    ]);
    const allowed = await sendForm(
      user,
      formed(what, plural, name, role(plural, name, ['get pods'])),
    );
    expect([200, 201]).toContain(allowed.status);
  });

  test.each(changing)('%s needs every right in what comes of it', async (what) => {
    const user = await userHolding(full, 'get pods');
    const name = fresh();
    await made(plural, role(plural, name, ['get pods']));
    const refused = await sendForm(
      user,
      formed(what, plural, name, role(plural, name, ['read pods'])),
    );
    expect([refused.status, messageOf(refused)]).toEqual([
      403,
      refusal(plural, name, user, podText),
    ]);
    const none = await sendForm(user, formed(what, plural, name, role(plural, name, [])));
    expect(none.status).toBe(200);
  });

  test('rights of another namespace or of a name are not enough', async () => {
    const user = isCluster
      ? await userWith([full, 'get pods'], [full, 'get pods named a'])
      : await userWith([full, 'get pods named a']);
    const wanted = role(plural, fresh(), ['get pods']);
    const answer = await send(user, `POST ${pathOf(plural)}`, { body: wanted });
    expect(answer.status).toBe(403);
    const named = role(plural, fresh(), ['get pods named a']);
    expect((await send(user, `POST ${pathOf(plural)}`, { body: named })).status).toBe(201);
  });

  test('a change of labels alone needs them, too: others may gather the role', async () => {
    const user = await userHolding(full, 'get pods');
    const [mine, other] = [fresh(), fresh()];
    await made(plural, role(plural, mine, ['get pods']));
    await made(plural, role(plural, other, ['get secrets']));
    const body = { metadata: { labels: { [`${group}/aggregate-to-view`]: 'true' } } };
    expect((await send(user, `PATCH ${pathOf(plural, mine)}`, { body })).status).toBe(200);
    const refused = await send(user, `PATCH ${pathOf(plural, other)}`, { body });
    expect([refused.status, messageOf(refused)]).toEqual([
      403,
      refusal(plural, other, user, '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'),
    ]);
  });

  test('what the garbage collector does needs none, nor what changes nothing', async () => {
    const user = await userHolding(full);
    const name = fresh();
    await made(plural, role(plural, name, ['get secrets']));
    const finalizers = { metadata: { finalizers: ['example.com/x'] } };
    for (const body of [finalizers, {}, { metadata: { finalizers: null } }]) {
      expect((await send(user, `PATCH ${pathOf(plural, name)}`, { body })).status).toBe(200);
    }
  });

  test('the verb escalate is enough, of the name or of all', async () => {
    const name = fresh();
    const named = await userHolding(full, `escalate ${plural} of ${group} named ${name}`);
    const all = await userHolding(full, `escalate ${plural} of ${group}`);
    const body = role(plural, name, ['* * of *']);
    expect((await send(named, `POST ${pathOf(plural)}`, { body })).status).toBe(403);
    expect((await send(named, `PUT ${pathOf(plural, name)}`, { body })).status).toBe(201);
    const other = role(plural, fresh(), ['* * of *']);
    expect((await send(all, `POST ${pathOf(plural)}`, { body: other })).status).toBe(201);
  });

  test('the refusal comes before what validation finds', async () => {
    const user = await userHolding(full);
    const body = role(plural, fresh(), ['get secrets'], {
      rules: [...rulesFrom(['get secrets']), { verbs: ['get'] }],
    });
    expect((await send(user, `POST ${pathOf(plural)}`, { body })).status).toBe(403);
    expect((await send(admin, `POST ${pathOf(plural)}`, { body })).status).toBe(422);
  });
});

describe('aggregationRule', () => {
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };

  test.each([...creating, ...changing.slice(0, 2)])('%s needs all rights', async (what) => {
    const weak = await userWith([], ['full * of *']);
    const strong = await userWith([], ['* * of *', '* at *']);
    const name = fresh();
    if (!creating.includes(what)) {
      await made('clusterroles', role('clusterroles', name, [], { aggregationRule }));
    }
    const object = {
      ...role('clusterroles', name, [], {
        aggregationRule,
        metadata: { name, labels: { x: 'y' } },
      }),
    };
    const refused = await sendForm(weak, formed(what, 'clusterroles', name, object));
    expect([refused.status, messageOf(refused)]).toEqual([
      403,
      `clusterroles.${group} "${name}" is forbidden: must have cluster-admin privileges to use ` +
        'the aggregationRule',
    ]);
    const allowed = await sendForm(strong, formed(what, 'clusterroles', name, object));
    expect([200, 201]).toContain(allowed.status);
  });

  test('to take it away needs them, too', async () => {
    const weak = await userWith([], ['full * of *']);
    const name = fresh();
    await made('clusterroles', role('clusterroles', name, [], { aggregationRule }));
    const body = { aggregationRule: null };
    const path = pathOf('clusterroles', name);
    expect((await send(weak, `PATCH ${path}`, { body })).status).toBe(403);
    expect((await send(admin, `PATCH ${path}`, { body })).status).toBe(200);
  });
});

test('each retry is judged by what it started from', async () => {
  const user = await userWith([full, 'get pods']);
  const name = fresh();
  await made('roles', role('roles', name, ['get pods']));
  // Whoever comes second adds a label to a role that has become too strong.
  const widen = { rules: rulesFrom(['get secrets']) };
  const label = { metadata: { labels: { a: 'b' } } };
  const path = pathOf('roles', name);
  for (let round = 0; round < 10; round += 1) {
    const reset = { rules: rulesFrom(['get pods']), metadata: { labels: { a: null } } };
    expect((await send(admin, `PATCH ${path}`, { body: reset })).status).toBe(200);
    const [widened, labelled] = await Promise.all([
      send(admin, `PATCH ${path}`, { body: widen }),
      send(user, `PATCH ${path}`, { body: label }),
    ]);
    expect(widened.status).toBe(200);
    const version = ({ json }: ApiAnswer): number =>
      Number((json as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
    if (labelled.status === 200) expect(version(labelled)).toBeLessThan(version(widened));
    else expect(labelled.status).toBe(403);
  }
});
