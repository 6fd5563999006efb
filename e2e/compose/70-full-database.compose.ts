// etcd's database reaches its quota (alarm NOSPACE): writes are refused in words, all else goes on,
// and by the commands of docs/operate/containers.md all works again, without a restart.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { configMaps } from '../operations/asks.ts';
import { Informer } from '../operations/informer.ts';
import { Asker } from './asker.ts';
import { follow, runbook } from './runbook.ts';
import { members, replicas, SetUp, until } from './set-up.ts';

const mega = 2 ** 20;
const roomBytes = 12 * mega;
const fillersMax = 60;

let setUp: SetUp;
let asker: Asker;
let informer: Informer;
/** One member after the other. */
async function withQuota(bytes?: number): Promise<void> {
  const variables: Record<string, string> =
    bytes === undefined ? {} : { ETCD_QUOTA_BACKEND_BYTES: String(bytes) };
  for (const member of members) {
    await setUp.remake(member, variables);
    await setUp.healthy(member);
  }
}
beforeAll(async () => {
  setUp = await SetUp.attach();
  asker = new Asker(setUp);
  const { url, admin } = setUp;
  informer = new Informer({ url, identity: () => admin, path: configMaps });
  const args = ['etcdctl', 'endpoint', 'status', '--write-out=json'];
  const { stdout } = await setUp.exec('etcd-1', args);
  await withQuota(Number(/"dbSize":(\d+)/.exec(stdout)?.[1]) + roomBytes);
});
afterAll(async () => {
  asker.close();
  await informer.stop();
  // Whatever happened: a member with an alarm is not healthy.
  await setUp.exec('etcd-1', ['etcdctl', 'alarm', 'disarm']);
  await withQuota();
});

const starts = (): Promise<string[]> =>
  Promise.all(
    replicas.map(async (each) => (await (await setUp.container(each)).inspect()).State.StartedAt),
  );

/** Takes 600 kB. */
const filler = (name: string): object => ({
  metadata: { name },
  data: { text: name.repeat(600_000 / name.length) },
});
const nameOf = (index: number): string => `filler-${String(index).padStart(3, '0')}`;

async function fill(): Promise<{ readonly count: number; readonly refusal: object }> {
  for (let count = 0; count < fillersMax; count++) {
    const { status, text } = await asker.request('POST', configMaps, {
      body: filler(nameOf(count)),
    });
    if (status !== 201) return { count, refusal: JSON.parse(text) as object };
  }
  throw new Error('the database does not become full');
}

test('a full database refuses writes alone, and recovers by the runbook', async () => {
  const before = await starts();
  const { count, refusal } = await fill();
  await until('the watcher knows all of them', () =>
    Promise.resolve(informer.known.has(nameOf(count - 1))),
  );
  process.stdout.write(`full after ${String(count)} objects: ${JSON.stringify(refusal)}\n`);
  expect(count).toBeGreaterThan(3);
  expect(refusal).toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
  expect(refusal).toMatchObject({ message: expect.stringContaining('NOSPACE') });

  for (let turn = 0; turn < 20; turn++) {
    expect((await asker.request('GET', `${configMaps}/${nameOf(0)}`)).status).toBe(200);
    expect((await asker.request('GET', configMaps)).status).toBe(200);
    expect((await asker.request('GET', '/readyz')).status).toBe(200);
    const write = await asker.request('POST', configMaps, { body: filler('late') });
    expect(JSON.parse(write.text)).toMatchObject({ code: 503 });
    await sleep(100);
  }
  for (let index = 0; index < count; index++) {
    const { status } = await asker.request('DELETE', `${configMaps}/${nameOf(index)}`);
    expect(status).toBe(200);
  }
  // Its watch shows what happens meanwhile.
  await until('the watch shows that all are gone', () =>
    Promise.resolve(![...informer.known.keys()].some((name) => name.startsWith('filler-'))),
  );
  expect({ listCount: informer.listCount, backwards: informer.backwards }).toEqual({
    listCount: 1,
    backwards: [],
  });

  await follow(runbook('A full database')[0] ?? '', '.');
  const namespace = { metadata: { name: 'after-full' } };
  const made = await asker.request('POST', '/api/v1/namespaces', { body: namespace });
  expect([made.status, made.text]).toEqual([201, made.text]);
  const account = '/api/v1/namespaces/after-full/serviceaccounts/default';
  while ((await asker.request('GET', account)).status !== 200) await sleep(50);
  await asker.request('DELETE', '/api/v1/namespaces/after-full');
  expect(await starts()).toEqual(before);
});
