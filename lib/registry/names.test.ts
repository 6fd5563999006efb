// Names that no key in etcd can hold are the client's mistake, whatever kind and rule they are of.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { nameProblems } from '../api/name-rules.ts';
import { isSegment } from '../storage-etcd/keys.ts';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { causesOf, codeOf, namesOf, VerbDriver } from './testing/verb-driver.ts';

const impossible: readonly (readonly [string, string])[] = [
  ['a line break', 'a\nb'],
  ['NUL', 'a\0'],
  ['DEL', '\x7f'],
  ['a control character beyond ASCII', '\u0085'],
  ['too many characters', 'x'.repeat(1_025)],
  ['a slash', 'a/b'],
  ['a percent sign and what it stands for', '%2f'],
  ['a way up', '..'],
];

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
});

afterAll(async () => {
  await registry.stop();
});

/** Of every kind that clients create and that is stored, in all its versions. */
const stores = (): readonly ResourceStore[] =>
  replica.stores.all.filter(
    ({ resource }) => !resource.virtual && resource.verbs.includes('create'),
  );

describe.each(impossible)('a name with %s', (_what, name) => {
  test('is refused where it is new', async () => {
    for (const store of stores()) {
      for (const query of ['', 'dryRun=All']) {
        const causes = await causesOf(verbs.create(store, { metadata: { name }, spec: {} }, query));
        const { resource } = store.resource;
        expect([resource, causes]).toEqual([
          resource,
          expect.arrayContaining(['metadata.name FieldValueInvalid']),
        ]);
      }
    }
  });

  test('is found nowhere', async () => {
    const escaped = name.replaceAll(/[\\=,]/g, '\\$&');
    const query = new URLSearchParams({ fieldSelector: `metadata.name=${escaped}` }).toString();
    for (const store of stores()) {
      expect(await codeOf(verbs.get(store, name))).toBe(404);
      expect(await codeOf(verbs.remove(store, name))).toBe(404);
      expect(await codeOf(verbs.patch(store, name, {}))).toBe(404);
      expect(namesOf(await verbs.list(store, query))).toEqual([]);
    }
  });
});

test('a label that is made of a name is refused where the object has it', async () => {
  const spec = { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' };
  const metadata = { name: 'x'.repeat(64) };
  const made = verbs.create(replica.store('batch/jobs'), {
    metadata,
    spec: { template: { spec } },
  });
  const causes = new Set(await causesOf(made));
  expect([...causes]).toEqual(['spec.template.labels FieldValueInvalid']);
});

test('what a name rule takes is one segment of a key', () => {
  const rules = new Set(replica.scheme.resources.map(({ nameRule }) => nameRule));
  const pieces = [
    'a',
    '.',
    '-',
    '%',
    '2f',
    '/',
    '\0',
    '\n',
    '\x9f',
    '\ud800',
    '\udc00',
    '😀',
    '～',
    ':',
  ];
  for (const rule of [...rules, 'any' as const]) {
    for (const one of ['', ...pieces]) {
      for (const other of pieces) {
        for (const last of ['', ...pieces, 'x'.repeat(1_024)]) {
          const name = one + other + last;
          const problems = nameProblems(rule, name, { isPrefix: false });
          if (problems.length === 0)
            expect([rule, name, isSegment(name)]).toEqual([rule, name, true]);
        }
      }
    }
  }
});
