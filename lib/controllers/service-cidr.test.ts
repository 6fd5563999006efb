import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createLogger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { internalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { fresh, scope, VerbDriver } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { controllerUser } from './controller-user.ts';
import { ServiceCidrController } from './service-cidr.ts';
import { runController } from './testing/run-controller.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let ranges: ResourceStore;
let addresses: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  ranges = replica.store('networking.svc.io/servicecidrs');
  addresses = replica.store('networking.svc.io/ipaddresses');
});

afterAll(async () => {
  await registry.stop();
});

const finalizer = 'networking.svc.io/service-cidr-finalizer';
/** The grace period of every deletion is over for it. */
const later: Clock = {
  ...systemClock,
  nowMs: () => Date.now() + 10 * limits.serviceCidrDeletionGraceMs,
};

test('a new range gets a finalizer, then is Ready', async () => {
  const { stop } = startController();
  try {
    const name = await makeRange('10.0.0.0/24');
    await until(async () => (await readyOf(name))?.status === 'True');
    expect((await verbs.get(ranges, name)).metadata['finalizers']).toEqual([finalizer]);
    expect(await readyOf(name)).toMatchObject({ reason: '', message: 'Service CIDR is ready' });
  } finally {
    await stop();
  }
});

test('a range stays while an address lies in it alone, and goes with the last one', async () => {
  const { stop } = startController();
  try {
    const name = await makeRange('10.1.0.0/24', 'fd00:1::/112');
    await makeAddress('10.1.0.7');
    await makeAddress('fd00:1::7');
    await until(async () => (await readyOf(name))?.status === 'True');
    await verbs.remove(ranges, name);
    await until(async () => (await readyOf(name))?.status === 'False');
    expect(await readyOf(name)).toMatchObject({
      reason: 'Terminating',
      message: expect.stringContaining('There are still IPAddresses referencing the ServiceCIDR'),
    });
    await verbs.remove(addresses, '10.1.0.7');
    expect(await exists(name)).toBe(true);
    await verbs.remove(addresses, 'fd00:1::7');
    await until(async () => !(await exists(name)));
  } finally {
    await stop();
  }
});

test('a range with addresses goes when another one holds all of them', async () => {
  const { stop } = startController();
  try {
    const name = await makeRange('10.2.0.0/24');
    await makeAddress('10.2.0.7');
    await until(async () => (await readyOf(name))?.status === 'True');
    await verbs.remove(ranges, name);
    await until(async () => (await readyOf(name))?.status === 'False');
    await makeRange('10.2.0.0/28');
    await until(async () => !(await exists(name)));
  } finally {
    await stop();
  }
});

test('of two ranges that are deleted at once, none lets go of an address of both', async () => {
  const { stop } = startController();
  try {
    const names = [await makeRange('10.3.0.0/24'), await makeRange('10.3.0.0/16')];
    await makeAddress('10.3.0.7');
    for (const name of names) {
      await until(async () => (await readyOf(name))?.status === 'True');
    }
    for (const name of names) await verbs.remove(ranges, name);
    // The first may go before the deletion of the second begins.
    const statusOf = (name: string): Promise<string | undefined> =>
      readyOf(name).then(
        (ready) => ready?.status,
        () => 'gone',
      );
    for (const name of names) await until(async () => (await statusOf(name)) !== 'True');
    expect((await Promise.all(names.map(exists))).filter(Boolean)).not.toEqual([]);
    await verbs.remove(addresses, '10.3.0.7');
    for (const name of names) await until(async () => !(await exists(name)));
  } finally {
    await stop();
  }
});

test('an empty range waits until every replica has seen its deletion', async () => {
  const clock = new ManualClock();
  clock.pass(Date.now());
  const { stop } = startController(clock);
  try {
    const name = await makeRange('10.4.0.0/24');
    await until(async () => (await readyOf(name))?.status === 'True');
    await verbs.remove(ranges, name);
    await until(() => Promise.resolve(clock.waitsMs.length > 0));
    expect(await exists(name)).toBe(true);
    clock.pass(2 * limits.serviceCidrDeletionGraceMs); // it stood still while the test did not
    await until(async () => !(await exists(name)));
  } finally {
    await stop();
  }
  expect(clock.waitsMs).toEqual([]);
});

test('one that begins later goes on with what another one left', async () => {
  const first = startController();
  const name = await makeRange('10.5.0.0/24');
  await until(async () => (await readyOf(name))?.status === 'True');
  await first.stop();
  await verbs.remove(ranges, name);
  const second = startController();
  try {
    await until(async () => !(await exists(name)));
  } finally {
    await second.stop();
  }
});

test('two work beside each other without harm', async () => {
  const controllers = [startController(), startController()];
  try {
    const cidrs = Array.from({ length: 8 }, (_, at) => `10.6.${String(at)}.0/24`);
    const names = await Promise.all(cidrs.map((cidr) => makeRange(cidr)));
    for (const name of names) {
      await until(async () => (await readyOf(name))?.status === 'True');
    }
    await Promise.all(names.map((name) => verbs.remove(ranges, name)));
    for (const name of names) await until(async () => !(await exists(name)));
  } finally {
    for (const { stop } of controllers) await stop();
  }
});

function startController(clock: Clock = later): { stop: () => Promise<void> } {
  const { naming } = replica;
  const controller = new ServiceCidrController({
    ranges,
    addresses,
    naming,
    client: internalClient(controllerUser(naming, 'service-cidrs-controller')),
    clock,
    log: createLogger('error'),
  });
  return { stop: runController(controller) };
}

async function makeRange(...cidrs: readonly string[]): Promise<string> {
  const name = fresh();
  await verbs.create(ranges, { metadata: { name }, spec: { cidrs } });
  return name;
}

async function makeAddress(name: string): Promise<void> {
  const parentRef = { resource: 'services', namespace: 'ns', name: 'x' };
  await verbs.create(addresses, { metadata: { name }, spec: { parentRef } });
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

async function readyOf(name: string): Promise<Condition | undefined> {
  const { status } = await verbs.get(ranges, name);
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly Condition[] };
  return conditions.find(({ type }) => type === 'Ready');
}

const exists = (name: string): Promise<boolean> =>
  verbs.get(ranges, name).then(
    (_found: Sent) => true,
    (error: unknown) => {
      if (error instanceof StatusError && error.code === 404) return false;
      throw error;
    },
  );

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const { signal } = scope();
  while (!(await isTrue())) await sleep(20, signal);
}
