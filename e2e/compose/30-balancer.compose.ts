// The balancer is restarted under load: clients come back to whom they had, and miss nothing.
import { beforeAll, expect, test } from '@jest/globals';
import { judged } from './judged.ts';
import { SetUp } from './set-up.ts';

let setUp: SetUp;
beforeAll(async () => {
  setUp = await SetUp.attach();
});

test('what fails while the balancer is restarted fails no more after it', async () => {
  const restarting = 'while the balancer is restarted';
  const verdict = await judged(setUp, {
    name: 'balancer restarted',
    harm: async (scene) => {
      scene.phase(restarting);
      await setUp.restart('balancer');
      await setUp.healthy('balancer');
      await scene.flow();
    },
  });
  const { seed, anomalies, failures } = verdict;
  const later = failures.filter((failure) => !failure.startsWith(restarting));
  expect({ seed, anomalies, later }).toEqual({ seed, anomalies: [], later: [] });
});
