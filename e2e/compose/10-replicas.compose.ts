// Replicas behind the balancer are restarted, upgraded, rolled back and killed under load.
import { beforeAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { composeEnvironment, project, root } from './project.ts';
import { judged, type Scene } from './judged.ts';
import { replicas, SetUp, type Replica } from './set-up.ts';

const previousImage = process.env['PREVIOUS_IMAGE'] ?? 'svc-apiserver:previous';
// A replica that has just started holds no history from before, so 410 is allowed.
const check = { retentionMs: 0 };
const flawless = { anomalies: [], failures: [], unanswered: [] };

let setUp: SetUp;
beforeAll(async () => {
  setUp = await SetUp.attach();
});

/** One replica after the other; the next one when the balancer uses the last one again. */
async function roll(scene: Scene, what: string, change: (replica: Replica) => Promise<void>) {
  for (const replica of replicas) {
    scene.phase(`${replica} ${what}`);
    const sinceMs = Date.now();
    await change(replica);
    await setUp.balanced(replica, 'UP', sinceMs);
    await scene.flow();
  }
}

test('no request fails while every replica is restarted', async () => {
  const verdict = await judged(setUp, {
    name: 'rolling restart',
    check,
    harm: (scene) => roll(scene, 'is restarted', (replica) => setUp.restart(replica)),
  });
  expect(verdict).toMatchObject(flawless);
  expect(verdict.goawayCount).toBeGreaterThan(0);
  expect(verdict.watchEndCount).toBeGreaterThan(0);
});

/** Builds what the commit before this one was, where PREVIOUS_IMAGE names no image. */
function findPrevious(): boolean {
  if (process.env['PREVIOUS_IMAGE'] !== undefined) return true;
  const [node, git] = [process.execPath, 'git'];
  try {
    execFileSync(git, ['rev-parse', '--verify', 'HEAD~1'], { cwd: root, stdio: 'ignore' });
  } catch {
    process.stderr.write(
      'no upgrade: the commit before this one is not here; see PREVIOUS_IMAGE\n',
    );
    return false;
  }
  const args = ['scripts/images/main.mjs', '--product', '--commit=HEAD~1'];
  const env = composeEnvironment({ APISERVER_IMAGE: previousImage });
  execFileSync(node, args, { cwd: root, stdio: ['ignore', 2, 2], env });
  return true;
}

(findPrevious() ? test : test.skip)(
  'no request fails while another image replaces this one, and back',
  async () => {
    const imageOf = async (replica: Replica): Promise<string> =>
      (await (await setUp.container(replica)).inspect()).Config.Image;
    const verdict = await judged(setUp, {
      name: 'rolling upgrade and rollback',
      check,
      harm: async (scene) => {
        for (const image of [previousImage, project.image]) {
          await roll(scene, `becomes ${image}`, (replica) =>
            setUp.remake(replica, { APISERVER_IMAGE: image }),
          );
          expect(await Promise.all(replicas.map(imageOf))).toEqual([image, image, image]);
        }
      },
    });
    const { seed, anomalies, failures, unanswered } = verdict;
    expect({ seed, anomalies, failures, unanswered }).toEqual({
      seed,
      anomalies: [],
      failures: [],
      unanswered: [],
    });
  },
);

test('only requests in flight fail when a replica is killed', async () => {
  const killing = 'while it is killed';
  const verdict = await judged(setUp, {
    name: 'a replica killed',
    check,
    harm: async (scene) => {
      for (let count = 0; count < 2; count += 1) {
        const replica = scene.random.pick(replicas);
        const sinceMs = Date.now();
        scene.phase(killing);
        await setUp.kill(replica);
        scene.phase('after the kill');
        await scene.flow();
        await setUp.start(replica);
        await setUp.balanced(replica, 'UP', sinceMs);
        await scene.flow();
      }
    },
  });
  const { seed, anomalies, failures } = verdict;
  const later = failures.filter((failure) => !failure.startsWith(killing));
  expect({ seed, anomalies, later }).toEqual({ seed, anomalies: [], later: [] });
});
