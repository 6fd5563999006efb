// Keys and CAs are replaced under steady load by the commands of docs/operate/containers.md: no
// request fails, and in the end the old ones are worth nothing.
import { beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { SteadyLoad } from '../operations/steady-load.ts';
import { Asker } from './asker.ts';
import { follow, runbook } from './runbook.ts';
import { compose, members, replicas, SetUp, until, type Service } from './set-up.ts';

/** A write that a member had proposed when it was stopped: nobody can know, and it says so. */
const unknownOutcome = /PATCH .* 504 .*the outcome of the write is unknown/;
const accounts = '/api/v1/namespaces/default/serviceaccounts';

let setUp: SetUp;
beforeAll(async () => {
  setUp = await SetUp.attach();
});

/** The steps under load, each with the name of the phase. */
async function underLoad(
  what: string,
  run: (phase: (name: string) => Promise<void>) => Promise<void>,
  mayFail = /^$/,
): Promise<void> {
  const { url } = setUp;
  const load = await SteadyLoad.start({ url, identity: () => setUp.admin, connectionCount: 1 });
  const startedBefore = await startTimes([...replicas, 'balancer']);
  try {
    await run(async (name) => {
      await load.flow(20);
      load.phase = name;
    });
    await load.flow();
  } finally {
    const { failures, ...counts } = await load.stop();
    process.stdout.write(`rotation of ${what}: ${JSON.stringify(counts)}\n`);
    expect(failures.filter((failure) => !mayFail.test(failure))).toEqual([]);
  }
  if (what.includes('token')) return;
  expect(await startTimes([...replicas, 'balancer'])).toEqual(startedBefore);
}

const startTimes = (services: readonly Service[]): Promise<string[]> =>
  Promise.all(
    services.map(async (service) => {
      return (await (await setUp.container(service)).inspect()).State.StartedAt;
    }),
  );

/** The serial numbers of certificates that new connections through the balancer are shown. */
async function shown(): Promise<ReadonlySet<string>> {
  const { port, hostname: host } = new URL(setUp.url);
  const one = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
        resolve(socket.getPeerX509Certificate()?.serialNumber ?? 'none');
        socket.destroy();
      });
      socket.on('error', reject);
    });
  return new Set(await Promise.all(Array.from({ length: 12 }, one)));
}

/** Resolves when no replica shows what was shown before. */
const renewed = (before: ReadonlySet<string>): Promise<void> =>
  until('every replica shows another certificate', async () => {
    return [...(await shown())].every((serial) => !before.has(serial));
  });

/** Resolves when every replica has said so since. */
async function said(text: string, change: () => Promise<void>): Promise<void> {
  const count = async (replica: Service): Promise<number> =>
    (await compose(['logs', '--no-log-prefix', replica])).split(text).length;
  const before = await Promise.all(replicas.map(count));
  await change();
  await until(`every replica says: ${text}`, async () => {
    const now = await Promise.all(replicas.map(count));
    return now.every((is, index) => is > (before[index] ?? 0));
  });
}

const statusAs = async (headers: { readonly authorization?: string } = {}): Promise<number> => {
  const asker = new Asker(setUp);
  const { status } = await asker.request('GET', `${accounts}?limit=1`, { headers });
  asker.close();
  return status;
};

const step = (heading: string, index = 0): Promise<void> =>
  follow(runbook(heading)[index] ?? '', '.');
const clientCas = '--client-ca-file: new certificates are in force';

test('the certificates of the replicas', async () => {
  await underLoad('serving certificates', async (phase) => {
    const before = await shown();
    await phase('renewed');
    await step('The certificates of the replicas');
    await renewed(before);
  });
});

test('the CA of replicas and users', async () => {
  const old = setUp.admin;
  await underLoad('the CA', async (phase) => {
    const heading = 'The CA of replicas and users';
    await phase('both are believed');
    await said(clientCas, () => step(heading, 0));
    const before = await shown();
    setUp = await SetUp.attach();
    await phase('the new one signs');
    await step(heading, 1);
    await renewed(before);
    setUp = await SetUp.attach();
    await phase('the old one goes');
    await said(clientCas, () => step(heading, 2));
    setUp = await SetUp.attach();
    await phase('the new one alone');
    // The balancer asks each second, by new connections.
    await sleep(3_000);
  });
  expect(setUp.admin.ca).not.toBe(old.ca);
  expect(await statusAs()).toBe(200);
  const before = new Asker({ url: setUp.url, admin: { ...old, ca: setUp.admin.ca } });
  expect((await before.request('GET', accounts)).status).toBe(401);
  before.close();
  await Promise.all(replicas.map((replica) => setUp.healthy(replica)));
});

test('the CAs of etcd', async () => {
  await underLoad(
    'the CAs of etcd',
    async (phase) => {
      await phase('etcd');
      await step('The CAs of etcd');
    },
    unknownOutcome,
  );
  await Promise.all([...members, ...replicas].map((service) => setUp.healthy(service)));
});

test('the key of tokens', async () => {
  const asker = new Asker(setUp);
  const token = async (): Promise<{ readonly authorization: string }> => {
    const { text } = await asker.request('POST', `${accounts}/default/token`, { body: {} });
    const { status } = JSON.parse(text) as { status: { token: string } };
    return { authorization: `Bearer ${status.token}` };
  };
  const before = await token();
  expect(await statusAs(before)).toBe(403);
  await underLoad('the key of tokens', async (phase) => {
    await phase('the new key is believed, then signs');
    await step('The key of service-account tokens', 0);
    expect(await statusAs(before)).toBe(403);
    await phase('the old key goes');
    await step('The key of service-account tokens', 1);
  });
  expect([await statusAs(before), await statusAs(await token())]).toEqual([401, 403]);
  asker.close();
});
