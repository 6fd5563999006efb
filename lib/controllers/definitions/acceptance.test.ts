// Definitions whose names are accepted, on one replica and on several over one etcd.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { StatusError } from '../../base/status.ts';
import { keyspace, RegistryOnEtcd } from '../../registry/testing/registry-on-etcd.ts';
import { scope } from '../../registry/testing/verb-driver.ts';
import {
  conditionsIn,
  definition,
  definitionReplica,
  untilDefinition,
} from '../testing/definition-replica.ts';
import type { DefinitionBody, DefinitionReplica } from '../testing/definition-replica.ts';

let registry: RegistryOnEtcd;
let one: DefinitionReplica;
let stop: () => Promise<void>;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  one = await definitionReplica(registry);
  stop = one.accept();
});

afterAll(async () => {
  await stop();
  await registry.stop();
});

const hasConditions = (object: JsonObject | undefined): boolean =>
  object !== undefined && conditionsIn(object).length > 0;
const isIn = (text: string) => (object: JsonObject | undefined) =>
  object !== undefined && conditionsIn(object).includes(text);

const namesIn = (object: JsonObject | undefined): JsonObject | undefined =>
  recordAt(recordAt(object, 'status'), 'acceptedNames');
const messageOf = (object: JsonObject | undefined, type: string): string =>
  textAt(conditionIn(object, type), 'message');
const conditionIn = (object: JsonObject | undefined, type: string): JsonObject | undefined =>
  recordsAt(recordAt(object, 'status'), 'conditions').find((one) => textAt(one, 'type') === type);

const established = 'Established True InitialNamesAccepted';
const accepted = 'NamesAccepted True NoConflicts';
const refused = 'Established False NotAccepted';

/** Made, and settled. */
async function make(body: DefinitionBody): Promise<JsonObject | undefined> {
  await one.verbs.create(one.definitions, body);
  return untilDefinition(one, body.metadata.name, hasConditions);
}

test('a definition has its names and is established, in one write', async () => {
  const names = { plural: 'widgets', kind: 'Widget', shortNames: ['wg'], categories: ['all'] };
  const body = definition(names);
  const made = await one.verbs.create(one.definitions, body);
  const settled = await untilDefinition(one, 'widgets.example.com', hasConditions);
  const { generation } = settled?.['metadata'] as JsonObject;
  expect(generation).toBe(1);
  expect(settled?.['spec']).toEqual(made['spec']);
  expect(settled?.['status']).toEqual({
    acceptedNames: { ...names, singular: 'widget', listKind: 'WidgetList' },
    conditions: [
      {
        type: 'NamesAccepted',
        status: 'True',
        lastTransitionTime: expect.any(String),
        reason: 'NoConflicts',
        message: 'no conflicts found',
      },
      {
        type: 'Established',
        status: 'True',
        lastTransitionTime: expect.any(String),
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      },
    ],
    storedVersions: ['v1'],
  });
});

describe('a name that another definition of the group has', () => {
  const group = 'taken.example.com';
  const first = {
    plural: 'firsts',
    singular: 'first',
    kind: 'First',
    listKind: 'FirstList',
    shortNames: ['f', 'fs'],
  };

  beforeAll(async () => {
    await make(definition(first, { group }));
  });

  // Each its own names, with some of the first definition's in their place.
  test.each([
    ['singular', { singular: 'firsts' }, 'SingularConflict', '"firsts" is already in use'],
    ['singular, as a short name', { singular: 'f' }, 'SingularConflict', '"f" is already in use'],
    ['short name', { shortNames: ['x', 'f'] }, 'ShortNamesConflict', '"f" is already in use'],
    [
      'several short names',
      { shortNames: ['f', 'x', 'first'] },
      'ShortNamesConflict',
      '["f" is already in use, "first" is already in use]',
    ],
    ['kind', { kind: 'First', listKind: 'Own' }, 'KindConflict', '"First" is already in use'],
    [
      'kind, as a list kind',
      { kind: 'FirstList' },
      'KindConflict',
      '"FirstList" is already in use',
    ],
    [
      'list kind',
      { kind: 'Fourth', listKind: 'FirstList' },
      'ListKindConflict',
      '"FirstList" is already in use',
    ],
    [
      'several: the last one is told',
      { kind: 'First', listKind: 'Others', singular: 'first', shortNames: ['fs'] },
      'KindConflict',
      '"First" is already in use',
    ],
  ])('%s: is refused, and so is the definition', async (what, names, reason, message) => {
    const plural = `p${String(what.length)}${reason.toLowerCase()}`;
    const own = { plural, kind: `K${plural}`, ...names };
    const settled = await make(definition(own, { group }));
    expect(conditionsIn(settled ?? {})).toEqual([refused, `NamesAccepted False ${reason}`]);
    expect(messageOf(settled, 'NamesAccepted')).toBe(message);
    expect(messageOf(settled, 'Established')).toBe('not all names are accepted');
    const got = namesIn(settled) ?? {};
    // Each of the others is accepted on its own, short names only all together.
    expect(got['plural']).toBe(plural);
    expect(Object.values(got)).not.toContain('First');
    expect(got['shortNames'] ?? []).toEqual([]);
    await one.verbs.remove(one.definitions, `${plural}.${group}`);
  });

  test('a plural as a singular of another: the plural is refused', async () => {
    const group = 'plural.example.com';
    await make(definition({ plural: 'as', singular: 'bs', kind: 'A' }, { group }));
    const settled = await make(definition({ plural: 'bs', kind: 'B' }, { group }));
    expect(conditionsIn(settled ?? {})).toEqual([refused, 'NamesAccepted False PluralConflict']);
    expect(namesIn(settled)).toMatchObject({ plural: '', singular: 'b', kind: 'B' });
  });

  test('is free in another group, and kinds and resources are two sets', async () => {
    const settled = await make(definition(first, { group: 'other.example.com' }));
    expect(conditionsIn(settled ?? {})).toEqual([established, accepted]);
    const kindAsName = { plural: 'apples', kind: 'Firsts', singular: 'apple' };
    const other = await make(definition(kindAsName, { group }));
    expect(conditionsIn(other ?? {})).toEqual([established, accepted]);
  });

  test('an own name is free for another use of the same definition', async () => {
    const name = 'owns.own.example.com';
    await make(definition({ plural: 'owns', kind: 'Own' }, { group: 'own.example.com' }));
    const names = { singular: 'owns', shortNames: ['own'] };
    await one.verbs.patch(one.definitions, name, { spec: { names } });
    const settled = await untilDefinition(
      one,
      name,
      (object) => namesIn(object)?.['singular'] === 'owns',
    );
    expect(conditionsIn(settled ?? {})).toEqual([established, accepted]);
    expect(namesIn(settled)?.['shortNames']).toEqual(['own']);
  });
});

describe('names that become free', () => {
  const group = 'freed.example.com';
  const [first, second] = [`firsts.${group}`, `seconds.${group}`];

  beforeEach(async () => {
    await make(definition({ plural: 'firsts', kind: 'First', shortNames: ['s'] }, { group }));
    await make(definition({ plural: 'seconds', kind: 'Second', shortNames: ['s'] }, { group }));
  });

  test('as their definition takes others: who was refused has them', async () => {
    const since = (object: JsonObject | undefined): string =>
      textAt(conditionIn(object, 'Established'), 'lastTransitionTime');
    const before = await untilDefinition(one, first, isIn(established));
    await one.verbs.patch(one.definitions, first, { spec: { names: { shortNames: ['f'] } } });
    const settled = await untilDefinition(one, second, isIn(accepted));
    expect(conditionsIn(settled ?? {})).toEqual([established, accepted]);
    // The first one wants its former name again: it is established all the same.
    await one.verbs.patch(one.definitions, first, { spec: { names: { shortNames: ['s'] } } });
    const conflict = 'NamesAccepted False ShortNamesConflict';
    const again = await untilDefinition(one, first, isIn(conflict));
    expect(conditionsIn(again ?? {})).toEqual([established, conflict]);
    expect(namesIn(again)?.['shortNames']).toEqual(['f']);
    expect(since(again)).toBe(since(before));
  });

  test('as their definition goes: who was refused has them', async () => {
    await release(first);
    const settled = await untilDefinition(one, second, isIn(accepted));
    expect(conditionsIn(settled ?? {})).toEqual([established, accepted]);
  });

  afterEach(async () => {
    await Promise.all([release(first), release(second)]);
  });
});

/** Deletes it, whatever holds it. */
async function release(name: string): Promise<void> {
  try {
    await one.verbs.remove(one.definitions, name);
    await one.verbs.patch(one.definitions, name, { metadata: { finalizers: null } });
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 404) throw error;
  }
  await untilDefinition(one, name, (object) => object === undefined);
}

test('categories follow without a condition', async () => {
  const name = 'sorts.sorts.example.com';
  const group = 'sorts.example.com';
  await make(definition({ plural: 'sorts', kind: 'Sort' }, { group }));
  await one.verbs.patch(one.definitions, name, { spec: { names: { categories: ['all'] } } });
  const has = (object: JsonObject | undefined) => namesIn(object)?.['categories'] !== undefined;
  expect(namesIn(await untilDefinition(one, name, has))?.['categories']).toEqual(['all']);
});

describe('a CA bundle', () => {
  const webhook = (caBundle: string) => ({
    strategy: 'Webhook',
    webhook: {
      clientConfig: { url: 'https://127.0.0.1:1/', caBundle: btoa(caBundle) },
      conversionReviewVersions: ['v1'],
    },
  });

  test.each([
    [
      'that is no certificate: the definition is not established',
      'x',
      'Established False InvalidCABundle',
    ],
    ['that is blank counts as none', ' \n', established],
  ])('%s', async (what, bundle, condition) => {
    const plural = `c${String(what.length)}`;
    const spec = { group: 'ca.example.com', conversion: webhook(bundle) };
    const settled = await make(definition({ plural, kind: plural }, spec));
    expect(conditionsIn(settled ?? {})).toEqual([condition, accepted]);
    if (condition === established) return;
    const text = 'The conversion webhook CABundle is invalid';
    expect(messageOf(settled, 'Established')).toBe(text);
    const conversion = { strategy: 'None', webhook: null };
    await one.verbs.patch(one.definitions, `${plural}.ca.example.com`, { spec: { conversion } });
    await untilDefinition(one, `${plural}.ca.example.com`, isIn(established));
  });
});

describe('a definition in a group of the product', () => {
  const key = 'api-approved.svc.io';
  const url = 'https://github.com/svc/enhancements/pull/1';

  test.each([
    [url, 'True ApprovedAnnotation', `approved in ${url}`],
    ['unapproved, a test', 'False UnapprovedAnnotation', 'not approved: "unapproved, a test"'],
  ])('says who approved it: %s', async (text, condition, message) => {
    const plural = `a${String(text.length)}`;
    const spec = { group: 'test.svc.io' };
    const body = definition({ plural, kind: plural }, spec, { annotations: { [key]: text } });
    const settled = await make(body);
    const type = 'KubernetesAPIApprovalPolicyConformant';
    expect(conditionsIn(settled ?? {})).toContain(`${type} ${condition}`);
    expect(messageOf(settled, type)).toBe(message);
  });

  test('says that it is approved once it is', async () => {
    const body = definition(
      { plural: 'laters', kind: 'Later' },
      { group: 'svc.io' },
      { annotations: { [key]: 'unapproved' } },
    );
    await make(body);
    const annotations = { [key]: url };
    await one.verbs.patch(one.definitions, 'laters.svc.io', { metadata: { annotations } });
    const type = 'KubernetesAPIApprovalPolicyConformant';
    await untilDefinition(one, 'laters.svc.io', isIn(`${type} True ApprovedAnnotation`));
  });
});

test('what a client writes into the status is put right, and keeps its time', async () => {
  const group = 'client.example.com';
  const name = `things.${group}`;
  const before = await make(definition({ plural: 'things', kind: 'Thing' }, { group }));
  const conditions = recordsAt(recordAt(before, 'status'), 'conditions').map((condition) => ({
    ...condition,
    message: 'something else',
    lastTransitionTime: '2020-01-01T00:00:00Z',
  }));
  const texts = { subresource: 'status' };
  await one.verbs.patch(one.definitions, name, { status: { conditions } }, texts);
  const isRight = (object: JsonObject | undefined): boolean =>
    messageOf(object, 'NamesAccepted') === 'no conflicts found';
  const after = await untilDefinition(one, name, isRight);
  const condition = conditionIn(after, 'NamesAccepted');
  expect(condition?.['lastTransitionTime']).toBe('2020-01-01T00:00:00Z');
  // Established once is established for good, whatever is said about it.
  expect(messageOf(after, 'Established')).toBe('something else');
});

test('a definition whose deletion has begun is accepted no more', async () => {
  await stop();
  const group = 'late.example.com';
  const name = `lates.${group}`;
  await one.verbs.create(one.definitions, definition({ plural: 'lates', kind: 'Late' }, { group }));
  await one.verbs.remove(one.definitions, name);
  stop = one.accept();
  await make(definition({ plural: 'others', kind: 'Late' }, { group }));
  const late = await one.verbs.get(one.definitions, name);
  expect(conditionsIn(late as unknown as JsonObject)).toEqual([
    'Terminating True InstanceDeletionPending',
  ]);
});

test('a schema of an older server that is not structural is told until it is mended', async () => {
  const group = 'older.example.com';
  const name = `olders.${group}`;
  const { storage } = one.replica;
  const key = keyspace.key('apiextensions.svc.io/customresourcedefinitions', '', name);
  const older = {
    apiVersion: 'apiextensions.svc.io/v1beta1',
    kind: 'CustomResourceDefinition',
    metadata: { name, uid: 'u', generation: 1, creationTimestamp: '2020-01-01T00:00:00Z' },
    spec: {
      group,
      version: 'v1',
      scope: 'Cluster',
      names: { plural: 'olders', singular: 'older', kind: 'Older', listKind: 'OlderList' },
      validation: { openAPIV3Schema: { properties: { spec: { type: 'object' } } } },
      preserveUnknownFields: true,
    },
    status: { acceptedNames: { plural: '', kind: '' }, conditions: [], storedVersions: ['v1'] },
  };
  await storage.put(key, Buffer.from(JSON.stringify(older)), { expected: 0 }, scope().signal);
  const isTold = isIn('NonStructuralSchema True Violations');
  const told = await untilDefinition(one, name, isTold);
  expect(conditionsIn(told ?? {})).toEqual([
    established,
    accepted,
    'NonStructuralSchema True Violations',
  ]);
  expect(messageOf(told, 'NonStructuralSchema')).toBe(
    '[spec.preserveUnknownFields: Invalid value: true: must be false, ' +
      'spec.versions[0].schema.openAPIV3Schema.type: ' +
      'Required value: must not be empty at the root]',
  );
  const versions = [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
  ];
  const spec = { preserveUnknownFields: false, versions };
  await one.verbs.patch(one.definitions, name, { spec });
  const isMended = (object: JsonObject | undefined): boolean => !isTold(object);
  const mended = await untilDefinition(one, name, isMended);
  expect(conditionsIn(mended ?? {})).toEqual([established, accepted]);
});
