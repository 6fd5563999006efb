import { describe, expect, test } from '@jest/globals';
import { resourceOf } from '../testing/asked.ts';
import { admit, partsOf } from '../testing/cluster.ts';
import type { Known } from '../testing/cluster.ts';
import { resourceQuota } from './resource-quota.ts';

const quota = (used: string): object => ({
  metadata: { namespace: 'a', name: 'q' },
  spec: { hard: { secrets: '1' } },
  status: { hard: { secrets: '1' }, used: { secrets: used } },
});
const secret = { metadata: { namespace: 'a', name: 'x' } };
const full =
  '403 secrets "x" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=1, ' +
  'limited: secrets=1';

describe('ResourceQuota', () => {
  const ask = async (known: Known, change: object = {}): Promise<string | undefined> => {
    const resource = resourceOf('secrets');
    const admitted = await admit(resourceQuota, known, secret, {
      resource,
      dryRun: true,
      ...change,
    });
    return admitted.refused;
  };
  const empty = { resourcequotas: [quota('0')] };
  const exceeded = { resourcequotas: [quota('1')] };

  test('p.ResourceQuota: a dry run is refused as the write would be', async () => {
    expect(await ask({ memory: exceeded })).toBe(full);
    expect(await ask({ memory: empty })).toBeUndefined();
  });

  test('a dry run is judged by what is stored, not by a memory that is behind', async () => {
    expect(await ask({ memory: empty, store: exceeded })).toBe(full);
    expect(await ask({ memory: exceeded, store: empty })).toBeUndefined();
  });

  test('a real write is judged where it is stored', async () => {
    expect(await ask({ memory: exceeded }, { dryRun: false })).toBeUndefined();
  });

  test('p.ResourceQuota: what is of the cluster, or deleted, is not counted', async () => {
    expect(await ask({ memory: exceeded }, { namespace: '' })).toBeUndefined();
    expect(await ask({ memory: exceeded }, { operation: 'DELETE' })).toBeUndefined();
    const hard = { 'count/namespaces': '0' };
    const ofNamespaces = { ...quota('0'), spec: { hard }, status: { hard, used: hard } };
    const resource = resourceOf('namespaces');
    const change = { resource, kind: resource.kind, namespace: 'a' };
    expect(await ask({ memory: { resourcequotas: [ofNamespaces] } }, change)).toBeUndefined();
  });

  test('u.quota-exists: a name that is taken is left to who says so', async () => {
    const served = { read: () => secret, list: () => Promise.resolve([]) };
    const parts = partsOf({ memory: exceeded });
    const taken = { ...parts.served, find: () => ({ ...served, resource: resourceOf('secrets') }) };
    const admitted = await admit(() => resourceQuota({ ...parts, served: taken }), {}, secret, {
      resource: resourceOf('secrets'),
      dryRun: true,
    });
    expect(admitted.refused).toBeUndefined();
  });

  test('p.ResourceQuota: a wrong configuration refuses the start', async () => {
    expect(() => resourceQuota(partsOf({ configuration: { kind: 'Other' } }))).toThrow('of kind');
  });
});
