// The wall clock of one replica is five minutes ahead: nobody notices behind the balancer, and what
// one replica signs all believe.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SteadyLoad } from '../operations/steady-load.ts';
import { DirectReplica } from './container-network.ts';
import { compose, replicas, SetUp, type Replica } from './set-up.ts';

const ahead: Replica = 'apiserver-2';
const files = ['-f', 'docker-compose.yml', '-f', 'e2e/compose/clock-ahead.yaml'];

let setUp: SetUp;
/** The replica alone, with these files. */
async function remade(by: readonly string[]): Promise<void> {
  const sinceMs = Date.now();
  await compose([...by, 'up', '--detach', '--no-deps', ahead]);
  await setUp.balanced(ahead, 'UP', sinceMs);
}
beforeAll(async () => {
  setUp = await SetUp.attach();
  await remade(files);
});
afterAll(() => remade([]));

test('the clock is ahead, no request fails, tokens of each are believed by all', async () => {
  const load = await SteadyLoad.start({ url: setUp.url, identity: () => setUp.admin });
  const direct = await Promise.all(replicas.map((replica) => DirectReplica.of(setUp, replica)));
  try {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    for (const [index, maker] of direct.entries()) {
      const name = `clock-${String(index)}`;
      const made = await maker.request('POST', accounts, { body: { metadata: { name } } });
      const { creationTimestamp } = (
        JSON.parse(made.text) as { metadata: { creationTimestamp: string } }
      ).metadata;
      const aheadMs = Date.parse(creationTimestamp) - Date.now();
      if (replicas[index] === ahead) expect(aheadMs).toBeGreaterThan(200_000);
      else expect(aheadMs).toBeLessThan(100_000);
      const { text } = await maker.request('POST', `${accounts}/${name}/token`, { body: {} });
      const { token } = (JSON.parse(text) as { status: { token: string } }).status;
      for (const replica of direct) {
        const headers = { authorization: `Bearer ${token}` };
        // Known, without this right.
        expect((await replica.request('GET', accounts, { headers })).status).toBe(403);
      }
      await maker.request('DELETE', `${accounts}/${name}`);
    }
    await load.flow(300);
  } finally {
    await Promise.all(direct.map((replica) => replica.close()));
    const { failures, ...counts } = await load.stop();
    process.stdout.write(`a clock ahead: ${JSON.stringify(counts)}\n`);
    expect(failures).toEqual([]);
  }
});
