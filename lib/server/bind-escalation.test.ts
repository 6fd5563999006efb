// Who may bind which roles, by every form of a write.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  admin,
  binding,
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
  send,
  sendForm,
  userWith,
  startRoles,
  stopRoles,
} from './testing/role-writes.ts';
import type { Plural } from './testing/role-writes.ts';

beforeAll(startRoles);
afterAll(stopRoles);

describe.each<Plural>(['rolebindings', 'clusterrolebindings'])('%s', (plural) => {
  const isCluster = plural === 'clusterrolebindings';
  const userHolding = (...rules: string[]): Promise<string> =>
    isCluster ? userWith([], rules) : userWith(rules);
  const to = async (...rules: string[]): Promise<string> => {
    const name = fresh();
    await made('clusterroles', role('clusterroles', name, rules));
    return `ClusterRole ${name}`;
  };

  test.each(creating)('%s needs every right of its role', async (what) => {
    const user = await userHolding(full, 'get pods');
    const name = fresh();
    const strong = binding(plural, name, await to('read pods'), 'x');
    const refused = await sendForm(user, formed(what, plural, name, strong));
    expect([refused.status, messageOf(refused)]).toEqual([
      403,
      refusal(plural, name, user, podText),
    ]);
    const weak = binding(plural, name, await to('get pods'), 'x');
    expect([200, 201]).toContain((await sendForm(user, formed(what, plural, name, weak))).status);
  });

  test.each(changing)('%s needs every right of its role', async (what) => {
    const user = await userHolding(full, 'get pods');
    for (const [rules, status] of [
      ['read pods', 403],
      ['get pods', 200],
    ] as const) {
      const name = fresh();
      const role = await to(rules);
      await made(plural, binding(plural, name, role, 'x'));
      const answer = await sendForm(
        user,
        formed(what, plural, name, binding(plural, name, role, user)),
      );
      expect(answer.status).toBe(status);
    }
  });

  test('a change of labels alone needs them, what the garbage collector does none', async () => {
    const user = await userHolding(full);
    const name = fresh();
    await made(plural, binding(plural, name, await to('get secrets'), 'x'));
    const path = pathOf(plural, name);
    const labelled = { metadata: { labels: { a: 'b' } } };
    expect((await send(user, `PATCH ${path}`, { body: labelled })).status).toBe(403);
    const finalizers = { metadata: { finalizers: ['example.com/x'] } };
    expect((await send(user, `PATCH ${path}`, { body: finalizers })).status).toBe(200);
  });

  test('the verb bind is enough, on that role and in that scope', async () => {
    const strong = await to('get secrets');
    const bind = `bind clusterroles of ${group} named ${strong.split(' ')[1] ?? ''}`;
    const user = await userHolding(full, bind);
    const elsewhere = await userWith([full, bind], [full]);
    const body = binding(plural, fresh(), strong, 'x');
    expect((await send(user, `POST ${pathOf(plural)}`, { body })).status).toBe(201);
    const other = binding(plural, fresh(), await to('get secrets'), 'x');
    expect((await send(user, `POST ${pathOf(plural)}`, { body: other })).status).toBe(403);
    const again = binding(plural, fresh(), strong, 'x');
    expect((await send(elsewhere, `POST ${pathOf(plural)}`, { body: again })).status).toBe(
      isCluster ? 403 : 201,
    );
  });

  test('of a role that is not there it is 404, but for masters', async () => {
    const user = await userHolding(full);
    const body = binding(plural, fresh(), 'ClusterRole absent', user);
    const answer = await send(user, `POST ${pathOf(plural)}`, { body });
    expect([answer.status, messageOf(answer)]).toEqual([
      404,
      `${plural}.${group} "absent" not found`,
    ]);
    expect((await send(admin, `POST ${pathOf(plural)}`, { body })).status).toBe(201);
  });

  test('what is no reference to a role is told by validation', async () => {
    const user = await userHolding(full);
    const body = binding(plural, fresh(), 'Robot r', user);
    const answer = await send(user, `POST ${pathOf(plural)}`, { body });
    expect(answer.status).toBe(422);
  });
});

test('a role that was made a moment ago is known', async () => {
  const user = await userWith([full, 'get pods']);
  for (let round = 0; round < 20; round += 1) {
    const name = fresh();
    const wanted = role('roles', name, ['get pods']);
    expect((await send(user, `POST ${pathOf('roles')}`, { body: wanted })).status).toBe(201);
    const body = binding('rolebindings', name, `Role ${name}`, 'x');
    expect((await send(user, `POST ${pathOf('rolebindings')}`, { body })).status).toBe(201);
  }
});
