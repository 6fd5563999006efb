// A backup is taken and restored under load by the commands of docs/operate/containers.md, with a
// raised revision as they say, and without. No replica is restarted.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { restoredUnderLoad } from '../operations/restored.ts';
import { DirectReplica } from './container-network.ts';
import { follow, runbook } from './runbook.ts';
import { replicas, SetUp } from './set-up.ts';

const raised = ' --bump-revision=1000000000 --mark-compacted';

let folder = '';
let setUp: SetUp;
let direct: readonly DirectReplica[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'compose-restore-'));
  setUp = await SetUp.attach();
  direct = await Promise.all(replicas.map((replica) => DirectReplica.of(setUp, replica)));
});
afterAll(async () => {
  await Promise.all(direct.map((replica) => replica.close()));
  rmSync(folder, { recursive: true });
});

const starts = (): Promise<string[]> =>
  Promise.all(
    replicas.map(async (each) => (await (await setUp.container(each)).inspect()).State.StartedAt),
  );

test.each([
  ['as it was', 'as-it-was', ''],
  ['with its revision raised', 'raised', raised],
])('a backup is restored under load, %s', async (_claim, name, flags) => {
  const before = await starts();
  const [commands = ''] = runbook('Restore');
  expect(commands).toContain(raised);
  const { revision, goneCount } = await restoredUnderLoad({
    replicas: direct,
    identity: () => setUp.admin,
    name,
    backUp: () => follow(runbook('Backup')[0] ?? '', folder),
    restore: () => follow(commands.replace(raised, flags), folder),
  });
  process.stdout.write(`restored ${name}: revision ${revision}, 410 ${String(goneCount)} times\n`);
  expect(revision > 1_000_000_000).toBe(flags !== '');
  expect(await starts()).toEqual(before);
});
