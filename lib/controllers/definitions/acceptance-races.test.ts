// Several replicas over one etcd accept definitions at once: of those that race for a name exactly
// one has it, whatever replica is slow, silent or paused.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recordAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { isConditionTrue } from '../../kinds/apiextensions/conditions.ts';
import { keyspace, RegistryOnEtcd } from '../../registry/testing/registry-on-etcd.ts';
import { scope } from '../../registry/testing/verb-driver.ts';
import { conditionsIn, definition, definitionReplica } from '../testing/definition-replica.ts';
import { untilDefinition } from '../testing/definition-replica.ts';
import type { DefinitionBody, DefinitionReplica } from '../testing/definition-replica.ts';
import { until } from '../testing/collector.ts';

let registry: RegistryOnEtcd;
let replicas: DefinitionReplica[];

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replicas = [
    await definitionReplica(registry),
    await definitionReplica(registry),
    await definitionReplica(registry),
  ];
});

afterAll(async () => {
  await registry.stop();
});

const first = (): DefinitionReplica => {
  const [replica] = replicas;
  if (replica === undefined) throw new Error('there is a first replica');
  return replica;
};

/** Runs the acceptance of these replicas while `work` does. */
async function accepting<T>(
  which: readonly DefinitionReplica[],
  work: () => Promise<T>,
): Promise<T> {
  const stops = which.map((replica) => replica.accept());
  try {
    return await work();
  } finally {
    await Promise.all(stops.map((stop) => stop()));
  }
}

const hasConditions = (object: JsonObject | undefined): boolean =>
  object !== undefined && conditionsIn(object).length > 0;

/** Made by the replicas in turn, all at once; then settled. */
async function makeAll(bodies: readonly DefinitionBody[]): Promise<(JsonObject | undefined)[]> {
  const makers = bodies.map(async (body, at) => {
    const { verbs, definitions } = replicas[at % replicas.length] ?? first();
    await verbs.create(definitions, body);
  });
  await Promise.all(makers);
  const names = bodies.map(({ metadata }) => metadata.name);
  return Promise.all(names.map((name) => untilDefinition(first(), name, hasConditions)));
}

test('of definitions that race for a name through three replicas exactly one has it', async () => {
  await accepting(replicas, async () => {
    for (let round = 0; round < 8; round++) {
      const group = `race${String(round)}.example.com`;
      const bodies = Array.from({ length: 9 }, (_, at) => {
        const plural = `p${String(at)}`;
        const names = { plural, kind: at % 2 === 0 ? 'Wanted' : plural, shortNames: ['w'] };
        return definition({ ...names, listKind: `${plural}list` }, { group });
      });
      const settled = await makeAll(bodies);
      const acceptedOf = (name: string): string[] =>
        settled.flatMap((one) => {
          const names = recordAt(recordAt(one, 'status'), 'acceptedNames');
          return [...textsAt(names, 'shortNames'), textAt(names, 'kind')].filter(
            (each) => each === name,
          );
        });
      expect(acceptedOf('w')).toHaveLength(1);
      expect(acceptedOf('Wanted')).toHaveLength(1);
      const established = settled.filter((one) => isConditionTrue(one, 'Established'));
      expect(established.length).toBeLessThanOrEqual(1);
    }
  });
});

test('a hundred definitions of one group through three replicas are all established', async () => {
  const group = 'many.example.com';
  const bodies = Array.from({ length: 100 }, (_, at) => {
    const plural = `p${String(at)}`;
    return definition({ plural, kind: plural, listKind: `${plural}list` }, { group });
  });
  await accepting(replicas, async () => {
    const settled = await makeAll(bodies);
    expect(settled.filter((one) => !isConditionTrue(one, 'Established'))).toEqual([]);
  });
});

test('a definition whose replica is paused is accepted by another one', async () => {
  const group = 'paused.example.com';
  const [maker, ...others] = replicas;
  if (maker === undefined) throw new Error('there is a replica');
  await accepting(others, async () => {
    const body = definition({ plural: 'ps', kind: 'P' }, { group });
    await maker.verbs.create(maker.definitions, body);
    const settled = await untilDefinition(first(), `ps.${group}`, hasConditions);
    expect(isConditionTrue(settled, 'Established')).toBe(true);
  });
});

test('a replica that sees nothing of the others accepts no name that one of them has', async () => {
  const group = 'blind.example.com';
  const names = { plural: 'as', kind: 'A', shortNames: ['s'] };
  await accepting([first()], async () => {
    await first().verbs.create(
      first().definitions,
      definition({ plural: 'z', kind: 'Z' }, { group }),
    );
    await untilDefinition(first(), `z.${group}`, hasConditions);
  });
  // Made by a replica whose memory then stands still: of what follows it knows nothing.
  const wanted = definition({ plural: 'bs', kind: 'B', shortNames: ['s'] }, { group });
  await first().verbs.create(first().definitions, wanted);
  const blind = await definitionReplica(registry, { isFrozen: true });
  await accepting([first()], async () => {
    await untilDefinition(first(), `bs.${group}`, hasConditions);
    const { verbs, definitions } = first();
    await verbs.patch(definitions, `bs.${group}`, { spec: { names: { shortNames: ['t'] } } });
    await verbs.create(definitions, definition(names, { group }));
    await untilDefinition(first(), `as.${group}`, (object) =>
      isConditionTrue(object, 'Established'),
    );
  });
  // It would accept `s` for bs, which it believes to be still without conditions.
  const stop = blind.accept();
  await first().verbs.create(
    first().definitions,
    definition({ plural: 'cs', kind: 'C' }, { group }),
  );
  await accepting([first()], () => untilDefinition(first(), `cs.${group}`, hasConditions));
  await stop();
  const now = await first().verbs.get(first().definitions, `bs.${group}`);
  expect(recordAt(recordAt(now as unknown as JsonObject, 'status'), 'acceptedNames')).toMatchObject(
    {
      shortNames: ['t'],
    },
  );
});

test('the claim of a group goes with its last definition', async () => {
  const group = 'gone.example.com';
  const name = `gs.${group}`;
  const { verbs, definitions, replica } = first();
  const claim = keyspace.internalKey(`names-of-${group}`);
  const isThere = async (): Promise<boolean> =>
    (await replica.storage.get(claim, scope().signal)).item !== undefined;
  await accepting(replicas, async () => {
    for (let round = 0; round < 3; round++) {
      await verbs.create(definitions, definition({ plural: 'gs', kind: 'G' }, { group }));
      await untilDefinition(first(), name, hasConditions);
      expect(await isThere()).toBe(true);
      await verbs.remove(definitions, name);
      await verbs.patch(definitions, name, { metadata: { finalizers: null } });
      await until(async () => !(await isThere()));
    }
  });
});
