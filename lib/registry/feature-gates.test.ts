import { describe, expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDefaults } from '../api/defaults.ts';
import { dropDisabledFields, gatesOf } from '../api/gated-fields.ts';
import { cloneJson } from '../api/json-value.ts';
import { switches } from '../config/flag-kinds.ts';
import { builtInScheme, builtInRules } from '../kinds/built-in-kinds.ts';
import { ObjectGenerator } from '../api/testing/generated-objects.ts';
import type { FieldInfo, JsonObject, JsonValue, TypeInfo } from '../api/type-info.ts';
import { hasMigratedRules } from '../api/validate.ts';
import { namingProfile } from '../api/vendor.ts';
import type { FieldError } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import { effectiveGates } from '../config/gate-effects.ts';
import type { GateEffect, GateName } from '../config/gate-effects.ts';
import { gateTable } from '../config/gate-table.ts';
import { featureGates } from '../config/gates.ts';
import { kindStrategies } from '../kinds/built-in-kinds.ts';
import type { ResourceStrategy } from '../kinds/strategy.ts';
import { objectRules } from './validation.ts';
import { writeContext } from '../kinds/testing/write-context.ts';

const root = join(import.meta.dirname, '../..');
const naming = namingProfile('svc');
const scheme = builtInScheme({
  profile: naming,
  runtimeConfig: switches.parse('api/all=true'),
});
const rows = Object.entries(effectiveGates) as [GateName, GateEffect][];
const isKnown = new Map(gateTable.map(([name, , , isLocked]) => [name, isLocked]));
const defaultGates = featureGates(new Map());
/** Gates at their defaults but for one. */
const gatesWith =
  (gate: string, isOn: boolean) =>
  (name: string): boolean =>
    name === gate ? isOn : defaultGates.isEnabled(name);

const testFiles = new Map<string, string>();
const sourceOf = (file: string): string => {
  const path = join(root, file);
  let text = testFiles.get(file);
  text ??= existsSync(path) ? readFileSync(path, 'utf8') : '';
  testFiles.set(file, text);
  return text;
};
/** The text of a file, with its lines joined: long titles are written in parts. */
const hasTitle = (file: string, title: string): boolean =>
  sourceOf(file)
    .replaceAll(/'\s*\+\s*'/g, '')
    .includes(title);

describe('the table of gates', () => {
  test.each(rows)('%s names a test that exists', (_gate, { changes, test: named }) => {
    const [file = '', title = ''] = named.split(' › ');
    expect(changes).toMatch(/^\S.*[^.]$/);
    expect([file, title, hasTitle(file, title)]).toEqual([file, title, true]);
  });
  test('holds gates that can be switched, in order', () => {
    const names = rows.map(([name]) => name);
    expect(names.filter((name) => isKnown.get(name) !== false)).toEqual([]);
    expect(names).toEqual([...names].sort());
  });
  test('holds every gate that fields or rules beside them ask for', () => {
    const asked = [...gatedFields(scheme).keys()];
    expect(asked.filter((gate) => isSwitchable(gate) && !(gate in effectiveGates))).toEqual([]);
  });
  test('holds every gate that code asks for by name', () => {
    const files = ['lib', 'cmd'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.includes('.test.'))
        .map((file) => `${folder}/${file}`),
    );
    const asked = new Set(
      files.flatMap((file) =>
        [...sourceOf(file).matchAll(/\bis(?:On|Enabled)\(\s*'(\w+)'/g)].map(
          (found) => found[1] ?? '',
        ),
      ),
    );
    expect(asked.size).toBeGreaterThan(5);
    expect([...asked].filter((gate) => isSwitchable(gate) && !(gate in effectiveGates))).toEqual(
      [],
    );
  });
});

const isSwitchable = (gate: string): boolean => isKnown.get(gate) === false;

/** Gates of fields below stored kinds, with one way to such a field. */
function gatedFields(of: typeof scheme): Map<string, { root: TypeInfo; path: FieldInfo[] }> {
  const found = new Map<string, { root: TypeInfo; path: FieldInfo[] }>();
  const visit = (type: TypeInfo, at: TypeInfo, path: FieldInfo[], seen: Set<TypeInfo>): void => {
    if (seen.has(type)) return;
    seen.add(type);
    for (const field of type.fieldByJsonName.values()) {
      const way = [...path, field];
      for (const gate of gatesOf(field)) {
        if (!found.has(gate)) found.set(gate, { root: at, path: way });
      }
      if (field.message !== undefined) visit(field.message, at, way, seen);
    }
  };
  for (const { type } of of.storedResources) visit(type, type, [], new Set());
  return found;
}

/** An object that holds the field at the end of `path` and nothing else. */
function objectWith(path: readonly FieldInfo[], value: JsonValue): JsonObject {
  const [field, ...rest] = path;
  if (field === undefined) return {};
  const inner = rest.length === 0 ? value : objectWith(rest, value);
  const held =
    field.cardinality === 'list' && rest.length > 0
      ? [inner]
      : field.cardinality === 'map' && rest.length > 0
        ? { key: inner }
        : inner;
  return { [field.jsonName]: held };
}

const fieldRows = [...gatedFields(scheme)].filter(([gate]) => isSwitchable(gate));

test.each(fieldRows)(
  'fields of %s are dropped from new objects while it is off',
  (gate, { root: type, path }) => {
    const last = path.at(-1);
    if (last === undefined) throw new Error(gate);
    const whole = new ObjectGenerator({ seed: 7, density: 10 });
    const value =
      last.message === undefined
        ? last.cardinality === 'list'
          ? ['a']
          : 'a'
        : whole.object(last.message, '');
    const given = objectWith(path, last.cardinality === 'list' ? [value].flat() : value);
    const all = (): boolean => true;
    const kept = cloneJson(given);
    dropDisabledFields(type, all)(kept, undefined);
    expect(kept).toEqual(given);
    const isOff = (name: string): boolean => name !== gate;
    const dropped = cloneJson(given);
    dropDisabledFields(type, isOff)(dropped, undefined);
    expect(JSON.stringify(dropped)).not.toContain(`"${last.jsonName}":`);
    // An object that uses the field already keeps it.
    const used = cloneJson(given);
    dropDisabledFields(type, isOff)(used, given);
    expect(used).toEqual(given);
  },
);

test.each<[gate: GateName, type: string]>([
  ['MaxUnavailableStatefulSet', 'apps/v1.StatefulSet'],
  ['PodLevelResources', 'core/v1.Pod'],
  ['PodLogsQuerySplitStreams', 'core/v1.PodLogOptions'],
  ['VolumeLimitScaling', 'storage/v1.CSIDriver'],
  ['WorkloadAwarePreemption', 'scheduling/v1alpha2.PodGroup'],
])('%s changes the defaults of %s', (gate, id) => {
  const versionWith = (isOn: boolean): string =>
    createDefaults(
      { profile: naming, isOn: gatesWith(gate, isOn), nowMs: () => 0 },
      builtInRules.defaults,
    ).versionOf(scheme.type(id));
  expect(versionWith(true)).not.toBe(versionWith(false));
});

const context = writeContext();
const strategyOf = kindStrategies({ naming, eventTtlSeconds: 3600 });

function errorsOf(
  id: string,
  isOn: (gate: string) => boolean,
  object: ApiObject,
  old?: ApiObject,
): readonly FieldError[] {
  const stored = scheme.storedResources.find(({ type }) => type.id === id);
  if (stored === undefined) throw new Error(id);
  const defaults = createDefaults({ profile: naming, isOn, nowMs: () => 0 }, builtInRules.defaults);
  const complete = (of: ApiObject): ApiObject => {
    const copy = cloneJson(of);
    defaults.apply(copy, stored.type);
    return copy;
  };
  const rules = objectRules(stored, strategyOf(stored), { isOn, onMismatch: () => undefined });
  const before = old === undefined ? undefined : complete(old);
  return rules.validate(complete(object), before, context);
}

const metadata = { name: 'a', namespace: 'n' };
const containers = [{ name: 'c', image: 'i' }];
const podSpec = { containers, restartPolicy: 'Never' };
const restartRules = [
  { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } },
];
const affinityTo = (key: string): JsonObject => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] },
});
const volume = (key: string): ApiObject => ({
  metadata: { name: 'v' },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/x' },
    nodeAffinity: affinityTo(key),
  },
});
const job = (more: JsonObject): ApiObject => ({
  metadata,
  spec: {
    suspend: true,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { ...podSpec, ...more } },
  },
  status: {
    startTime: '2024-01-01T00:00:00Z',
    conditions: [{ type: 'Suspended', status: 'True' }],
  },
});

describe('validation', () => {
  test.each<[gate: GateName, id: string, field: string, object: ApiObject, old?: ApiObject]>([
    [
      'HPAScaleToZero',
      'autoscaling/v2.HorizontalPodAutoscaler',
      'spec.minReplicas',
      {
        metadata,
        spec: {
          minReplicas: 0,
          maxReplicas: 1,
          scaleTargetRef: { apiVersion: 'g/v1', kind: 'K', name: 'k' },
        },
      },
    ],
    [
      'RelaxedServiceNameValidation',
      'networking/v1.Ingress',
      'spec.defaultBackend.service.name',
      { metadata, spec: { defaultBackend: { service: { name: '1a', port: { number: 80 } } } } },
    ],
    [
      'TaintTolerationComparisonOperators',
      'core/v1.Pod',
      'spec.tolerations[0].operator',
      {
        metadata,
        spec: { ...podSpec, tolerations: [{ key: 'k', operator: 'Gt', value: '5' }] },
      },
    ],
    [
      'SELinuxMount',
      'core/v1.Pod',
      'spec.securityContext.seLinuxChangePolicy',
      {
        metadata,
        spec: { ...podSpec, securityContext: { seLinuxChangePolicy: 'MountOption' } },
      },
    ],
    [
      'UserNamespacesHostNetworkSupport',
      'core/v1.Pod',
      'spec.hostNetwork',
      { metadata, spec: { ...podSpec, hostUsers: false, hostNetwork: true } },
    ],
    [
      'MatchLabelKeysInPodTopologySpreadSelectorMerge',
      'core/v1.Pod',
      'spec.topologySpreadConstraints[0].matchLabelKeys[0]',
      {
        metadata,
        spec: {
          ...podSpec,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 't',
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: { a: 'b' } },
              matchLabelKeys: ['a'],
            },
          ],
        },
      },
    ],
    [
      'RestartAllContainersOnContainerExits',
      'core/v1.Pod',
      'spec.containers[0].restartPolicyRules[0].action',
      {
        metadata,
        spec: {
          ...podSpec,
          containers: [
            { ...containers[0], restartPolicy: 'Never', restartPolicyRules: restartRules },
          ],
        },
      },
    ],
    [
      'MutablePVNodeAffinity',
      'core/v1.PersistentVolume',
      'nodeAffinity',
      volume('new'),
      volume('old'),
    ],
    [
      'MutablePodResourcesForSuspendedJobs',
      'batch/v1.Job',
      'spec.template',
      job({ containers: [{ ...containers[0], resources: { limits: { cpu: '2' } } }] }),
      job({ containers: [{ ...containers[0], resources: { limits: { cpu: '1' } } }] }),
    ],
    [
      'MutableSchedulingDirectivesForSuspendedJobs',
      'batch/v1.Job',
      'spec.template.spec',
      job({ nodeSelector: { a: 'new' } }),
      job({ nodeSelector: { a: 'old' } }),
    ],
  ])('%s changes what is refused in %s', (gate, id, field, object, ...old) => {
    const refused = (isOn: boolean): string[] =>
      errorsOf(id, gatesWith(gate, isOn), object, ...old).map((error) => error.field);
    expect(refused(false)).toContain(field);
    expect(refused(true)).not.toContain(field);
  });

  const stored = scheme.storedResources.find(({ type }) => hasMigratedRules(type));
  const planted: FieldError = { reason: 'FieldValueInvalid', field: 'spec.planted', detail: 'p' };
  const strategy: ResourceStrategy = { validateMigrated: () => [planted] };
  const outcome = (gates: Readonly<Record<string, boolean>>): [fields: string[], told: number] => {
    if (stored === undefined) throw new Error('some kind has migrated rules');
    let told = 0;
    const isOn = (gate: string): boolean => gates[gate] ?? defaultGates.isEnabled(gate);
    const rules = objectRules(stored, strategy, { isOn, onMismatch: () => (told += 1) });
    const object = new ObjectGenerator({ seed: 5, density: 10 }).object(stored.type, 'v1');
    const errors = rules.validate(object, undefined, context);
    return [errors.map((error) => error.field).filter((path) => path === 'spec.planted'), told];
  };
  test('migrated rules, in both forms, are compared', () => {
    expect(outcome({})).toEqual([['spec.planted'], 1]);
    expect(outcome({ DeclarativeValidation: false })).toEqual([['spec.planted'], 0]);
  });
  test('migrated rules, taken over, decide in their declarative form', () => {
    const takeover = { DeclarativeValidationTakeover: true };
    expect(outcome(takeover)).toEqual([[], 1]);
    expect(outcome({ ...takeover, DeclarativeValidation: false })).toEqual([['spec.planted'], 0]);
  });
});
