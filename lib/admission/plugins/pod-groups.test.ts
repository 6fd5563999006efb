// Groups of pods: PodGroupProtection, PodGroupWorkloadExists and JobValidation.
import { describe, expect, test } from '@jest/globals';
import { naming, resourceOf } from '../testing/asked.ts';
import { admit, partsOf } from '../testing/cluster.ts';
import type { Known } from '../testing/cluster.ts';
import { jobValidation } from './job-validation.ts';
import { podGroupProtection } from './pod-group-protection.ts';
import { podGroupWorkloadExists } from './pod-group-workload-exists.ts';

const groups = {
  ...resourceOf('configmaps'), // The groups themselves are served only behind a flag.
  group: naming.resolve('scheduling.{v}'),
  version: 'v1alpha2',
  resource: 'podgroups',
};
const gatesOff = ['GenericWorkload', 'WorkloadWithJob'];

test.each([
  ['first', {}, true],
  ['once', { finalizers: ['scheduling.svc.io/podgroup-protection'] }, false],
])(
  'p.PodGroupProtection: a group is held by a finalizer, %s',
  async (_claim, metadata, isAdded) => {
    const change = { resource: groups };
    const { object, isChanged } = await admit(podGroupProtection, {}, { metadata }, change);
    expect(object.metadata?.finalizers).toEqual(['scheduling.svc.io/podgroup-protection']);
    expect(isChanged).toBe(isAdded);
  },
);

test('p.PodGroupProtection, p.PodGroupWorkloadExists, p.JobValidation: not without a gate', () => {
  const parts = partsOf({ gatesOff });
  expect(podGroupProtection(parts)).toBeUndefined();
  expect(podGroupWorkloadExists(parts)).toBeUndefined();
  expect(jobValidation(parts)).toBeUndefined();
  for (const gate of gatesOff) {
    const others = gatesOff.filter((one) => one !== gate);
    expect(jobValidation(partsOf({ gatesOff: others }))).toBeDefined();
  }
});

describe('p.PodGroupWorkloadExists', () => {
  const workload = (metadata: object = {}): NonNullable<Known['memory']> => ({
    workloads: [
      {
        metadata: { namespace: 'a', name: 'w', ...metadata },
        spec: { podGroupTemplates: [{ name: 't' }] },
      },
    ],
  });
  const deleting = workload({ deletionTimestamp: '2026-01-01T00:00:00Z' });
  const refused = '403 podgroups.scheduling.svc.io "x" is forbidden: PodGroup rejected: ';

  test.each<[claim: string, known: Known, template: string, problem: string | undefined]>([
    ['there', { memory: workload() }, 't', undefined],
    ['in the store alone', { store: workload() }, 't', undefined],
    ['missing', {}, 't', 'Workload "w" not found'],
    ['being deleted', { memory: deleting }, 't', 'Workload "w" is being deleted'],
    [
      'there, the template not',
      { memory: workload() },
      'u',
      'PodGroupTemplate "u" not found in Workload "w"',
    ],
  ])('p.PodGroupWorkloadExists: its workload is %s', async (_claim, known, template, problem) => {
    const workloadRef = { workloadName: 'w', podGroupTemplateName: template };
    const group = { spec: { podGroupTemplateRef: { workload: workloadRef } } };
    const admitted = await admit(podGroupWorkloadExists, known, group, { resource: groups });
    expect(admitted.refused).toBe(problem && `${refused}${problem}`);
  });

  test('p.PodGroupWorkloadExists: a group of no workload is admitted', async () => {
    const group = { spec: {} };
    const admitted = await admit(podGroupWorkloadExists, {}, group, { resource: groups });
    expect(admitted.refused).toBeUndefined();
  });
});

describe('p.JobValidation', () => {
  const gang = { schedulingPolicy: { gang: { minCount: 2 } } };
  const basic = { schedulingPolicy: { basic: {} } };
  const group = (name: string, spec: object, owner?: object): object => ({
    metadata: { namespace: 'a', name, ...(owner && { ownerReferences: [owner] }) },
    spec,
  });
  const job = (parallelism: number, podGroupName?: string): object => ({
    metadata: { namespace: 'a', name: 'x', uid: 'u' },
    spec: {
      parallelism,
      template: { spec: podGroupName === undefined ? {} : { schedulingGroup: { podGroupName } } },
    },
  });
  const refusal =
    '403 jobs.batch "x" is forbidden: cannot change parallelism for a Job referencing ' +
    'gang-scheduled PodGroup "g"';
  const own = { uid: 'u', controller: true };

  test.each([
    ['names a gang', job(2, 'g'), job(3, 'g'), [group('g', gang)], refusal],
    ['names a gang, and stays', job(2, 'g'), job(2, 'g'), [group('g', gang)], undefined],
    ['names a group of another kind', job(2, 'g'), job(3, 'g'), [group('g', basic)], undefined],
    ['names a group that is missing', job(2, 'g'), job(3, 'g'), [], undefined],
    ['controls a gang', job(2), job(3), [group('f', basic, own), group('g', gang, own)], refusal],
    [
      'owns a gang that another controls',
      job(2),
      job(3),
      [group('g', gang, { uid: 'u' }), group('h', gang, { uid: 'v', controller: true })],
      undefined,
    ],
    [
      'names a group, and controls a gang that counts no more',
      job(2, 'f'),
      job(3, 'f'),
      [group('f', basic), group('g', gang, own)],
      undefined,
    ],
  ])('p.JobValidation: a job %s', async (_claim, old, object, podgroups, refused) => {
    const change = { operation: 'UPDATE' as const, resource: resourceOf('jobs', 'batch'), old };
    const admitted = await admit(jobValidation, { memory: { podgroups } }, object, change);
    expect(admitted.refused).toBe(refused);
  });
});
