// The disk of a replica's --data-dir is full, then read-only: it serves on and stays healthy.
import { execFile } from 'node:child_process';
import { beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SteadyLoad } from '../operations/steady-load.ts';
import { DirectReplica } from './container-network.ts';
import { SetUp, type Replica } from './set-up.ts';

const replica: Replica = 'apiserver-1';
const folder = '/var/lib/svc-apiserver';
/** Five checks of its health. */
const watchMs = 25_000;

let setUp: SetUp;
beforeAll(async () => {
  setUp = await SetUp.attach();
});

const isHealthy = async (): Promise<boolean> =>
  (await (await setUp.container(replica)).inspect()).State.Health?.Status === 'healthy';
const node = async (script: string): Promise<string> =>
  (await setUp.exec(replica, ['node', '-e', script])).stdout;

/** All of its checks say that it is healthy, and no request fails, its own neither. */
async function servesOn(what: string): Promise<void> {
  const load = await SteadyLoad.start({ url: setUp.url, identity: () => setUp.admin });
  const direct = await DirectReplica.of(setUp, replica);
  load.phase = what;
  const path = '/api/v1/namespaces/default/configmaps';
  try {
    for (let sinceMs = 0, turn = 0; sinceMs < watchMs; sinceMs += 500, turn++) {
      const name = `disk-${String(turn)}`;
      const made = await direct.request('POST', path, { body: { metadata: { name } } });
      expect([what, made.status]).toEqual([what, 201]);
      expect((await direct.request('DELETE', `${path}/${name}`)).status).toBe(200);
      expect([what, await isHealthy()]).toEqual([what, true]);
      await sleep(500);
    }
  } finally {
    await direct.close();
    const { failures, ...counts } = await load.stop();
    process.stdout.write(`${what}: ${JSON.stringify(counts)}\n`);
    expect(failures).toEqual([]);
  }
}

test('a replica whose disk is full serves on', async () => {
  await node(
    `try { for (;;) fs.appendFileSync('${folder}/filler', Buffer.alloc(65536)) } catch {}`,
  );
  const write =
    `try { fs.writeFileSync('${folder}/more', Buffer.alloc(65536)) } ` +
    'catch (e) { console.log(e.code) }';
  expect((await node(write)).trim()).toBe('ENOSPC');
  await servesOn('a full disk');
  await node(`fs.rmSync('${folder}/filler'); fs.rmSync('${folder}/more', { force: true })`);
});

(process.getuid?.() === 0 ? test : test.skip)(
  'a replica whose disk is read-only serves on',
  async () => {
    const { State } = await (await setUp.container(replica)).inspect();
    const remount = (mode: 'ro' | 'rw'): Promise<unknown> =>
      promisify(execFile)('mount', [
        ...['-N', String(State.Pid)],
        ...['-o', `remount,${mode}`, folder],
      ]);
    await remount('ro');
    try {
      const write =
        `try { fs.writeFileSync('${folder}/more', '') } ` + 'catch (e) { console.log(e.code) }';
      expect((await node(write)).trim()).toBe('EROFS');
      await servesOn('a read-only disk');
    } finally {
      await remount('rw');
    }
  },
);
