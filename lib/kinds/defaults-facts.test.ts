// Says of every row of the table of defaults which test covers it. The rows that wait for something
// this server does not have yet are named with what they wait for.
import { cloneJson, isObject } from '../api/json-value.ts';
import { isEmpty } from '../api/presence.ts';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { allCases, completed, profile, scheme } from './testing/completed-cases.ts';
import type { Change, DefaultCase } from './testing/default-case.ts';
import type { FieldInfo, JsonValue, TypeInfo } from '../api/type-info.ts';

interface Row {
  readonly kind: string;
  readonly kinds?: readonly string[];
  readonly group?: string;
  readonly version?: string;
  readonly path: string;
  readonly value: JsonValue;
  readonly stage?: string;
}
interface StrategyRow {
  readonly kind: string;
  readonly createOnUpdate: boolean;
  readonly unconditionalUpdate: boolean;
  readonly resetMain?: readonly string[];
  readonly resetStatus?: readonly string[];
}
interface Facts {
  readonly defaults: readonly Row[];
  readonly registry: readonly Row[];
  readonly strategies: readonly StrategyRow[];
}

const folder = join(import.meta.dirname, '../../../shared/api-facts');
const file = join(folder, 'defaults.json');
const text = existsSync(file) ? profile.resolve(readFileSync(file, 'utf8')) : '{}';
const facts = JSON.parse(text) as Facts;

/** Rows that the write path covers: the title of a test in the named file. */
const written = 'lib/registry/written-objects.test.ts';
const requests = 'lib/registry/signing-requests.test.ts';
const writes: Readonly<Record<string, readonly [file: string, title: string]>> = {
  'Job spec.selector.matchLabels': [written, 'select their pods by their own uid'],
  'Job spec.template.metadata.labels': [written, 'select their pods by their own uid'],
  'PersistentVolumeClaim spec.dataSourceRef': [
    written,
    'a claim begins pending and names its source in both fields',
  ],
  'CertificateSigningRequest spec.signerName': [
    'lib/kinds/certificates/defaults.test.ts',
    'is for the signer of',
  ],
  'TokenRequest spec.audiences': [
    'lib/registry/accounts/token.test.ts',
    'has an hour and the audiences of the server where nothing is asked for',
  ],
};
const registryTests: Readonly<Record<string, readonly [file: string, title: string]>> = {
  all: [
    'lib/registry/write-verbs.test.ts',
    'answers what is stored, with everything the server owns',
  ],
  'kinds with generation': [written, 'kinds with a status subresource begin without the status'],
  Pod: [written, 'begin pending, quality of service %s'],
  Namespace: ['lib/registry/namespaces.test.ts', 'finalize'],
  Node: [written, 'a node keeps the status it registers with'],
  PersistentVolume: [written, 'begin pending; each change of the phase has its time'],
  PersistentVolumeClaim: [written, 'a claim begins pending'],
  CertificateSigningRequest: [requests, 'state who asks, whatever the body says'],
  LimitRange: [written, 'a limit range without a name gets a unique one'],
  DaemonSet: [written, 'the template of a daemon set is counted'],
  Job: [written, 'select their pods by their own uid'],
  ServiceAccount: [written, 'a service account keeps nothing of its secrets but their names'],
  Secret: [written, 'a secret without a type is Opaque'],
  CustomResourceDefinition: [written, 'a custom resource definition remembers every'],
  'status cleared on create': [written, 'kinds with a status subresource begin without'],
};

/** What must exist before a row can hold. */
const awaited: Readonly<Record<string, string>> = {
  'Service spec.clusterIP / spec.clusterIPs': 'an allocator of addresses',
  'Service spec.ipFamilies': 'an allocator of addresses',
  'Service spec.ipFamilyPolicy': 'an allocator of addresses',
  'Service spec.ports[].nodePort': 'an allocator of ports',
  'Service spec.healthCheckNodePort': 'an allocator of ports',
  'PersistentVolumeClaim spec.storageClassName': 'admission',
  'PersistentVolumeClaim metadata.finalizers': 'admission',
  'Ingress spec.ingressClassName': 'admission',
};

/** Values that an absent field shows, too: nothing is written. */
const unwritten: ReadonlySet<string> = new Set([
  'ConfigMap data',
  'ReplicationController spec.minReadySeconds',
  'Scale spec.replicas',
  'RoleBinding, ClusterRoleBinding subjects[].apiGroup ""',
]);

/** Values in words: what counts is that the path is filled in. */
const isWords = (value: JsonValue): boolean =>
  JSON.stringify(value) === '["the storage version"]' ||
  (typeof value === 'string' &&
    (/[ [|]|\.ports?$/.test(value) ||
      ['containerPort', 'capacity', 'metadata.name'].includes(value)));

const root = join(import.meta.dirname, '../..');
const hasTest = ([path, title]: readonly [file: string, title: string]): boolean =>
  readFileSync(join(root, path), 'utf8').includes(title);

interface Outcome {
  readonly case: DefaultCase;
  readonly changes: readonly Change[];
}
const outcomes: readonly Outcome[] = allCases.map((one) => ({
  case: one,
  changes: completed({ ...one, given: cloneJson(one.given) }).map(
    ([path, value]) => [path.replaceAll(/\[\d+\]/g, '[]'), value] as const,
  ),
}));

const rowName = ({ kind, path }: Row): string => `${kind} ${path}`;

/** Types that the row speaks of; parts of pods are seen in pods. */
function typesOf({ kind, group = '', version = 'v1' }: Row): string[] {
  if (['PodSpec', 'Container', 'Probe', 'Volume'].includes(kind)) return ['core/v1.Pod'];
  if (kind === 'NodeStatus') return ['core/v1.Node'];
  const webhooks = 'ValidatingWebhookConfiguration, MutatingWebhookConfiguration';
  const kinds = kind === 'webhook configurations' ? webhooks : kind;
  return group.split(', ').flatMap((one) =>
    version.split(', ').flatMap((each) =>
      kinds.split(', ').flatMap((name) => {
        const type = scheme.kind({ group: one, version: each, kind: name });
        return type === undefined ? [] : [type.id];
      }),
    ),
  );
}

/** `a.b / c` is `a.b` and `a.c`. */
function pathsOf(path: string): string[] {
  const [first = '', ...others] = path.split(' / ');
  const parent = first.slice(0, first.lastIndexOf('.') + 1);
  return [first, ...others.map((other) => parent + other)];
}

function leavesOf(path: string, value: JsonValue): Change[] {
  if (!isObject(value) || isEmpty(value)) return [[path, value ?? undefined]];
  return Object.entries(value).flatMap(([name, inner]) =>
    leavesOf(`${path}.${name}`, inner ?? null),
  );
}

/** The text of a row's path as a pattern for the end of a changed path. */
function pattern(path: string, inside: boolean): RegExp {
  const end = path
    .replace(/^\.\.\./, '')
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('\\[R\\]', '(?:\\.[\\w-]+|\\["[^"]+"\\])')
    .replaceAll('\\[hugepages-\\*\\]', '\\.hugepages-\\w+')
    .replaceAll('\\[\\]', '(?:\\[\\]|\\.[\\w-]+)')
    .replaceAll('\\.\\*', '\\.spec\\.template\\.spec\\.\\w+')
    .replace(/limits\/requests values$/, '(?:limits|requests)\\.\\w+')
    .replace(/resources values$/, 'resources\\.\\w+\\.\\w+');
  return new RegExp(`(?:^|\\.)${end}${inside ? '(?:[.[].*)?' : ''}$`);
}

/** The case that gives the row's value in a type; undefined: none does. */
function coveringCase(row: Row, type: string): string | undefined {
  const values = typeof row.value === 'string' ? row.value.split(' / ') : [];
  const paths = pathsOf(row.path);
  const wanted = paths.flatMap((path, index): Change[] => {
    const several = paths.length > 1 && typeof row.value === 'string';
    const value = several ? numberOrText(values[index] ?? values[0] ?? '') : row.value;
    return leavesOf(path, value);
  });
  // A map in words, and an empty message, may be filled in at any place below the path.
  const inside = (value: JsonValue | undefined): boolean =>
    isWords(row.value) || JSON.stringify(value) === '{}';
  const found = outcomes.find(
    ({ case: one, changes }) =>
      one.type === type &&
      wanted.every(([path, value]) =>
        changes.some(
          ([changed, given]) =>
            pattern(path, inside(value)).test(changed) &&
            (inside(value) || choices(value).includes(JSON.stringify(given))),
        ),
      ),
  );
  return found?.case.claim;
}

const numberOrText = (value: string): JsonValue => (/^\d+$/.test(value) ? Number(value) : value);
const choices = (value: JsonValue | undefined): (string | undefined)[] =>
  typeof value === 'string' && value.includes(' / ')
    ? value.split(' / ').map((one) => JSON.stringify(one))
    : [JSON.stringify(value)];

/** Rows of several kinds may speak of a field that not all of them have. */
function hasPath(id: string, path: string): boolean {
  let type: TypeInfo | undefined = scheme.type(id);
  for (const name of path.replaceAll('[]', '').split('.')) {
    const field: FieldInfo | undefined = type?.fieldByJsonName.get(name);
    if (field === undefined) return !path.startsWith('webhooks');
    type = field.message;
  }
  return true;
}

function coverageOf(row: Row): string | undefined {
  const name = rowName(row);
  const why = awaited[name];
  if (why !== undefined) return `awaits ${why}`;
  const write = writes[name];
  if (write !== undefined && hasTest(write)) return write[1];
  const types = typesOf(row);
  if (unwritten.has(name) || unwritten.has(`${name} ${JSON.stringify(row.value)}`)) {
    return outcomes.find(({ case: one }) => types.includes(one.type))?.case.claim;
  }
  const having = types.length === 1 ? types : types.filter((type) => hasPath(type, row.path));
  const claims = having.map((type) => coveringCase(row, type));
  return claims.length > 0 && !claims.includes(undefined) ? claims.join('; ') : undefined;
}

(existsSync(file) ? describe : describe.skip)('the tables of facts', () => {
  test('have no default that no test covers', () => {
    const rows = facts.defaults.map((row) => ({ row, coverage: coverageOf(row) }));
    const uncovered = rows
      .filter(({ coverage }) => coverage === undefined)
      .map(({ row }) => `${row.version ?? ''} ${rowName(row)} = ${JSON.stringify(row.value)}`);
    expect(uncovered).toEqual([]);
    expect(rows).toHaveLength(218);
  });
  test('name every row that awaits something', () => {
    const names = facts.defaults.map(rowName);
    expect(Object.keys({ ...awaited, ...writes }).filter((name) => !names.includes(name))).toEqual(
      [],
    );
  });
  test('have no rule of writing that no test covers', () => {
    const uncovered = facts.registry.filter(({ kind }) => {
      const covering = registryTests[kind];
      return covering === undefined || !hasTest(covering);
    });
    expect(uncovered.map(({ kind }) => kind)).toEqual([]);
  });
  test('agree with the records on generations and on status', () => {
    const stored = scheme.resources.filter(({ virtual }) => !virtual);
    const [, generations, ...others] = facts.registry;
    const cleared = others.at(-1)?.kinds ?? [];
    for (const { kind, hasGeneration, subresources } of stored) {
      expect([kind.kind, hasGeneration]).toEqual([
        kind.kind,
        generations?.kinds?.includes(kind.kind),
      ]);
      const hasStatus = subresources.some(({ name }) => name === 'status');
      if (cleared.includes(kind.kind)) expect([kind.kind, hasStatus]).toEqual([kind.kind, true]);
    }
  });
  test.each(facts.strategies ?? [])('agree with the record of $kind', (row) => {
    const records = scheme.resources.filter(
      ({ kind, virtual }) => kind.kind === row.kind && !virtual,
    );
    for (const record of records) {
      const short = (paths: readonly string[] = []): string[] =>
        paths.map((path) => path.replace(/ \(.*\)$/, ''));
      expect(record).toMatchObject({
        createOnUpdate: row.createOnUpdate,
        unconditionalUpdate: row.unconditionalUpdate,
        resetMain: short(row.resetMain),
      });
      const { status = [] } = record.resetBySubresource;
      // Status writes of definitions take metadata, too: labels, annotations, finalizers.
      const isDefinition = row.kind === 'CustomResourceDefinition';
      const reset = short(row.resetStatus).filter((path) => !isDefinition || path !== 'metadata');
      expect(short(status)).toEqual(reset);
    }
  });
});
