// Objects that lie in several versions while the call that converts them fails, or a version is
// gone: what that keeps from going on, and what it does not.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import { internalClient } from './internal-client.ts';
import { MixedWalls, wall } from './testing/mixed-walls.ts';
import { failure, fresh, namesOf, sent } from './testing/verb-driver.ts';

const { signal } = new AbortController();
let walls: MixedWalls;
beforeAll(async () => {
  walls = await MixedWalls.start();
});
afterAll(() => walls.stop());
beforeEach(() => walls.reset());

describe('a conversion that fails', () => {
  beforeEach(async () => {
    await walls.verbs.create(
      walls.store('v1'),
      wall('old', { color: 'red' }, { finalizers: ['example.com/hold'] }),
    );
    walls.storeIn('v2');
    await walls.verbs.create(walls.store('v2'), wall('new', { paint: 'blue' }));
    walls.fault = new StatusError(
      500,
      '',
      'conversion webhook for example.com/v1, Kind=Wall failed: no',
    );
    walls.calls.length = 0;
  });

  afterEach(async () => {
    const patch = { metadata: { finalizers: null } };
    await walls.verbs.patch(walls.own, 'old', patch).catch(() => undefined);
  });

  test('fails what needs it with its text', async () => {
    const whole = { code: 500, reason: '', message: walls.fault?.message };
    expect(await failure(walls.verbs.get(walls.store('v2'), 'old'))).toMatchObject(whole);
    expect(await failure(walls.verbs.list(walls.store('v1')))).toMatchObject(whole);
    const patch = { spec: { size: 3 } };
    expect(await failure(walls.verbs.patch(walls.store('v1'), 'old', patch))).toMatchObject(whole);
    const status = { subresource: 'status' };
    expect(
      await failure(walls.verbs.patch(walls.store('v1'), 'old', { status: {} }, status)),
    ).toMatchObject(whole);
    const made = walls.verbs.create(walls.store('v1'), wall(fresh(), { color: 'x' }));
    expect(await failure(made)).toMatchObject(whole);
  });

  test('keeps nobody from what lies in the version of the request', async () => {
    expect(await walls.verbs.get(walls.store('v1'), 'old')).toMatchObject({
      spec: { color: 'red' },
    });
    await walls.verbs.patch(walls.store('v2'), 'new', { spec: { paint: 'gold' } });
    expect(await walls.verbs.get(walls.store('v2'), 'new')).toMatchObject({
      spec: { paint: 'gold' },
    });
    expect(walls.calls).toEqual([]);
  });

  test('keeps no object from being deleted; one that is marked stays in its version', async () => {
    const removed = await walls.verbs.remove(walls.store('v1'), 'old');
    expect(removed.kind).toBe('object');
    expect(await walls.inEtcd('old')).toMatchObject({
      apiVersion: 'example.com/v1',
      spec: { color: 'red' },
      metadata: { deletionTimestamp: expect.any(String) as unknown },
    });
    expect((await walls.verbs.remove(walls.store('v1'), 'new')).kind).toBe('status');
    expect(walls.calls).toEqual([]);
  });

  test('keeps the server from nothing: metadata is changed in the version it is in', async () => {
    const client = internalClient({ name: 'gc', uid: '', groups: [], extra: {} });
    const path = { namespace: 'ns', name: 'old', subresource: '' };
    await client.delete(walls.own, { path }, signal);
    const own = { path, kind: 'merge', patch: { metadata: { labels: { a: 'b' } } } } as const;
    const item = await client.patch(walls.own, own, signal);
    expect(sent(item)).toMatchObject({ apiVersion: 'example.com/v1', spec: { color: 'red' } });
    const content = { ...own, patch: { spec: { color: 'green' } } };
    expect(await failure(client.patch(walls.own, content, signal))).toMatchObject({
      code: 422,
      message: expect.stringContaining('only metadata can be changed') as unknown,
    });
    const free = { ...own, patch: { metadata: { finalizers: null } } };
    await client.patch(walls.own, free, signal);
    expect(namesOf(await walls.verbs.list(walls.own))).toEqual(['new']);
    expect(await walls.clear(walls.own)).toMatchObject({ items: [{ name: 'new' }] });
    expect(walls.calls).toEqual([]);
  });

  test('is told by a watch, which shows the same events once it goes on', async () => {
    walls.fault = undefined;
    const cursor = await walls.watch(walls.store('v3'));
    walls.fault = new StatusError(
      500,
      '',
      'conversion webhook for example.com/v2, Kind=Wall failed: no',
    );
    await walls.verbs.patch(walls.store('v2'), 'new', { spec: { paint: 'gold' } });
    expect(await failure(cursor.next(signal))).toMatchObject({
      code: 500,
      message: walls.fault.message,
    });
    walls.fault = undefined;
    const [event] = (await cursor.next(signal)) ?? [];
    expect(event?.item && sent(event.item)).toMatchObject({ spec: { tint: 'gold' } });
    cursor.close();
  });
});

test('an object in a version that is gone is said to be so, and harms no other', async () => {
  await walls.mix();
  walls.storeIn('v2', ['v2', 'v3']);
  const { message } = await failure(walls.verbs.get(walls.store('v2'), 'old'));
  expect(message).toContain('is no Wall in a version that is known');
  expect(await walls.verbs.get(walls.store('v3'), 'new')).toMatchObject({ spec: { tint: 'blue' } });
  walls.storeIn('v1');
});
