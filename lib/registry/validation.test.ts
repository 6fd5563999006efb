import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { validateDeclared } from '../api/validate.ts';
import type { FieldError } from '../base/status.ts';
import { featureGates } from '../config/gates.ts';
import type { ApiObject } from '../codec/codec.ts';
import { namingProfile } from '../api/vendor.ts';
import { kindStrategies } from '../kinds/built-in-kinds.ts';
import type { ResourceStrategy } from '../kinds/strategy.ts';
import { resourceNamed } from './testing/rule-script.ts';
import { objectRules } from './validation.ts';
import { writeContext } from '../kinds/testing/write-context.ts';

const context = writeContext({ apiVersion: 'scheduling/v1alpha2' });
const strategyOf = kindStrategies({ naming: namingProfile('svc'), eventTtlSeconds: 1 });
const migratedKinds = [
  'scheduling.{v}/podgroups',
  'scheduling.{v}/workloads',
  'resource.{v}/resourcepoolstatusrequests',
] as const;

/** A small generator: the same seed gives the same numbers. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

const names: readonly JsonValue[] = ['', 'a', 'A b', 'a.b', 'x'.repeat(300), 'a/b', 'Pod', '..'];
const numbers: readonly JsonValue[] = [0, 1, -1, 5, 1_001, 2_000_000_000];
type Pick = (below: number) => number;
const one = <T>(pick: Pick, list: readonly T[]): T => list[pick(list.length)] as T;

/** Members by chance, so that absent, wrong and right values all come up. */
function some(pick: Pick, makers: Readonly<Record<string, () => JsonValue>>): JsonObject {
  const object: JsonObject = {};
  for (const [name, make] of Object.entries(makers)) if (pick(4) > 0) object[name] = make();
  return object;
}
const list = (pick: Pick, make: () => JsonValue, countMax: number): JsonValue[] =>
  Array.from({ length: pick(countMax + 2) }, make);

const makers: Readonly<Record<(typeof migratedKinds)[number], (pick: Pick) => JsonObject>> = {
  'scheduling.{v}/podgroups': (pick) => ({
    spec: {
      ...groupPart(pick),
      ...some(pick, {
        podGroupTemplateRef: () =>
          some(pick, {
            workload: () =>
              some(pick, {
                workloadName: () => one(pick, names),
                podGroupTemplateName: () => one(pick, names),
              }),
          }),
      }),
    },
    status: some(pick, {
      resourceClaimStatuses: () => list(pick, () => claimStatus(pick), 5),
    }),
  }),
  'scheduling.{v}/workloads': (pick) => ({
    spec: some(pick, {
      controllerRef: () =>
        some(pick, {
          apiGroup: () => one(pick, names),
          kind: () => one(pick, names),
          name: () => one(pick, names),
        }),
      podGroupTemplates: () =>
        list(
          pick,
          () => ({ ...some(pick, { name: () => one(pick, names) }), ...groupPart(pick) }),
          9,
        ),
    }),
  }),
  'resource.{v}/resourcepoolstatusrequests': (pick) => ({
    spec: some(pick, {
      driver: () => one(pick, names),
      poolName: () => one(pick, names),
      limit: () => one(pick, numbers),
    }),
    ...some(pick, {
      status: () =>
        some(pick, {
          poolCount: () => one(pick, numbers),
          pools: () => list(pick, () => pool(pick), 2),
          conditions: () => list(pick, () => ({ type: one(pick, ['a', 'b', 'c']) }), 11),
        }),
    }),
  }),
};

function groupPart(pick: Pick): JsonObject {
  return some(pick, {
    schedulingPolicy: () =>
      some(pick, {
        ...(pick(2) === 0 ? { basic: () => ({}) } : {}),
        gang: () => some(pick, { minCount: () => one(pick, numbers) }),
      }),
    schedulingConstraints: () =>
      some(pick, {
        topology: () => list(pick, () => some(pick, { key: () => one(pick, names) }), 1),
      }),
    resourceClaims: () =>
      list(
        pick,
        () =>
          some(pick, {
            name: () => one(pick, names),
            resourceClaimName: () => one(pick, names),
            resourceClaimTemplateName: () => one(pick, names),
          }),
        5,
      ),
    disruptionMode: () => 'Pod',
    priorityClassName: () => one(pick, names),
    priority: () => one(pick, numbers),
  });
}

const claimStatus = (pick: Pick): JsonObject =>
  some(pick, { name: () => one(pick, names), resourceClaimName: () => one(pick, names) });

const pool = (pick: Pick): JsonObject =>
  some(pick, {
    driver: () => one(pick, names),
    poolName: () => one(pick, names),
    generation: () => one(pick, numbers),
    resourceSliceCount: () => one(pick, numbers),
    totalDevices: () => one(pick, numbers),
    allocatedDevices: () => one(pick, numbers),
    availableDevices: () => one(pick, numbers),
    unavailableDevices: () => one(pick, numbers),
    nodeName: () => one(pick, names),
    validationError: () => one(pick, names),
  });

const texts = (errors: readonly FieldError[]): string[] =>
  errors.map(({ field, reason }) => `${field} ${reason}`).sort();

describe.each(migratedKinds)('%s: declarative equals handwritten', (kind) => {
  const resource = resourceNamed(kind);
  const strategy = strategyOf(resource);

  test.each([
    ['features off', {}],
    ['features on', { TopologyAwareWorkloadScheduling: 'true', WorkloadAwarePreemption: 'true' }],
  ])('on generated objects, %s', (_name, gates) => {
    const enabled = featureGates(new Map(Object.entries(gates)));
    const isOn = (gate: string): boolean => enabled.isEnabled(gate);
    let failureCount = 0;
    for (let seed = 1; seed <= 1_500; seed += 1) {
      const pick = random(seed * 7_919);
      const object = makers[kind](pick) as ApiObject;
      const isUpdate = seed % 3 > 0;
      // Some updates change a little, some everything.
      const other = makers[kind](seed % 3 === 1 ? pick : random(seed * 7_919)) as ApiObject;
      const old = isUpdate ? other : undefined;
      const declared = validateDeclared(object, old, resource.type, { stage: 'migrated', isOn });
      const found = strategy.validateMigrated?.(object, old, context, isOn) ?? [];
      failureCount += found.length;
      expect({ seed, found: texts(found) }).toEqual({ seed, found: texts(declared) });
    }
    expect(failureCount).toBeGreaterThan(100);
  });
});

describe('gates decide between the two forms', () => {
  const resource = resourceNamed('resource.{v}/devicetaintrules');
  const bad = { spec: { taint: { key: 'k' } } } as unknown as ApiObject;
  const wrong: FieldError = { reason: 'FieldValueInvalid', field: 'spec.wrong', detail: 'planted' };

  function run(gates: Readonly<Record<string, string>>, strategy: ResourceStrategy, object = bad) {
    const enabled = featureGates(new Map(Object.entries(gates)));
    const mismatches: string[] = [];
    const asked: string[] = [];
    const rules = objectRules(resource, strategy, {
      isOn: (gate) => {
        asked.push(gate);
        return enabled.isEnabled(gate);
      },
      onMismatch: (_resource, difference) => mismatches.push(difference),
    });
    return { found: texts(rules.validate(object, undefined, context)), mismatches, asked };
  }

  const planted: ResourceStrategy = { validateMigrated: () => [wrong] };
  const silent: ResourceStrategy = { validateMigrated: () => [] };
  const declared = ['spec.taint.effect FieldValueRequired'];
  const off = { DeclarativeValidation: 'false' };
  const takeover = { DeclarativeValidationTakeover: 'true' };

  test('by default both run, the handwritten one decides, a difference is told', () => {
    expect(run({}, strategyOf(resource))).toMatchObject({ found: declared, mismatches: [] });
    const { found, mismatches } = run({}, planted);
    expect(found).toEqual(['spec.wrong FieldValueInvalid']);
    expect(mismatches).toEqual([
      'declarative validation found spec.taint.effect: Required value; ' +
        'by hand spec.wrong: Invalid value: planted',
    ]);
  });

  test('a rule that is missing on either side is a difference', () => {
    expect(run({}, silent)).toMatchObject({ found: [], mismatches: [expect.anything()] });
    const good = { spec: { taint: { key: 'k', effect: 'None' } } } as unknown as ApiObject;
    expect(run({}, planted, good).mismatches).toEqual([
      'declarative validation found nothing; by hand spec.wrong: Invalid value: planted',
    ]);
  });

  test('with takeover the declarative one decides, differences are still told', () => {
    expect(run(takeover, planted)).toMatchObject({
      found: declared,
      mismatches: [expect.anything()],
    });
  });

  test('without the first gate the handwritten one runs alone, takeover or not', () => {
    for (const gates of [off, { ...off, ...takeover }]) {
      const { found, mismatches } = run(gates, planted);
      expect(found).toEqual(['spec.wrong FieldValueInvalid']);
      expect(mismatches).toEqual([]);
    }
  });

  test('nothing is evaluated twice when nobody compares', () => {
    let reads = 0;
    const watched = {
      get spec() {
        reads += 1;
        return undefined;
      },
    } as unknown as ApiObject;
    run(off, silent, watched);
    const alone = reads;
    reads = 0;
    run({}, silent, watched);
    expect(reads).toBeGreaterThan(alone);
    let calls = 0;
    const counted: ResourceStrategy = {
      validateMigrated: () => {
        calls += 1;
        return [];
      },
    };
    run({}, counted);
    expect(calls).toBe(1);
  });
});

describe('what is stored stays acceptable', () => {
  const resource = resourceNamed('apps/deployments');
  const rules = objectRules(resource, strategyOf(resource), {
    isOn: () => true,
    onMismatch: () => undefined,
  });
  const stored = {
    metadata: { name: 'd', namespace: 'n' },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'BAD', image: 'i', env: [{ name: '=' }] }] },
      },
    },
  } as unknown as ApiObject;
  const changed = (spec: object): ApiObject => ({
    ...stored,
    spec: { ...(stored.spec as object), ...spec },
  });

  test('elsewhere it can be changed', () => {
    expect(texts(rules.validate(stored, undefined, context))).toHaveLength(2);
    expect(rules.validate({ ...stored }, stored, context)).toEqual([]);
    expect(rules.validate(changed({ replicas: 2 }), stored, context)).toEqual([]);
  });

  test('what is changed is judged', () => {
    expect(texts(rules.validate(changed({ replicas: -1 }), stored, context))).toEqual([
      'spec.replicas FieldValueInvalid',
    ]);
  });
});
