// Stock kubectl deletes owners in each of the ways it knows, and the collector sees to what they
// own. Skipped where there is no kubectl.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasKubectl, KubectlCluster } from './run-kubectl.ts';
import type { KubectlResult } from './run-kubectl.ts';

let kube: KubectlCluster;

const kubectl = (...args: readonly string[]): KubectlResult => kube.run(...args);

const labels = { app: 'x' };
const template = {
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'registry.example/i:1' }] },
};
const spec = { selector: { matchLabels: labels }, template };

interface Made {
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** As kubectl has it after creating it. */
function create(object: object): Made {
  const file = join(kube.folder, 'object.json');
  writeFileSync(file, JSON.stringify(object));
  const { code, out, err } = kubectl('create', '--validate=false', '-f', file, '-o', 'json');
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as Made;
}

/** A deployment with a replica set with two pods, each owned by the one before. */
function makeOwners(name: string): void {
  const under = (kind: string, owner: Made): object => ({
    namespace: 'default',
    labels: { owners: name },
    ownerReferences: [
      { apiVersion: 'apps/v1', kind, ...pick(owner), controller: true, blockOwnerDeletion: true },
    ],
  });
  const pick = ({ metadata: { name: of, uid } }: Made): object => ({ name: of, uid });
  const deployment = create({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name, namespace: 'default' },
    spec,
  });
  const replicaSet = create({
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: { name: `${name}-1`, ...under('Deployment', deployment) },
    spec,
  });
  for (const pod of [`${name}-1-a`, `${name}-1-b`]) {
    const metadata = { name: pod, ...under('ReplicaSet', replicaSet) };
    create({ kind: 'Pod', apiVersion: 'v1', metadata, spec: template.spec });
  }
}

const namesOf = (resources: string, name: string): string[] =>
  kubectl('get', resources, '-l', `owners=${name}`, '-o', 'name').out.split('\n').filter(Boolean);

(hasKubectl ? describe : describe.skip)('kubectl delete', () => {
  beforeAll(async () => {
    kube = await KubectlCluster.start();
  });
  afterAll(() => kube.stop());

  test('--cascade=foreground comes back when all that was owned is gone', () => {
    makeOwners('front');
    const args = ['delete', 'deployment', 'front', '--cascade=foreground', '--timeout=30s'];
    expect(kubectl(...args)).toMatchObject({ code: 0, err: '' });
    expect(namesOf('replicasets,pods', 'front')).toEqual([]);
  });

  test('--cascade=background comes back at once; what was owned goes after', () => {
    makeOwners('back');
    const args = ['delete', 'deployment', 'back', '--cascade=background'];
    expect(kubectl(...args)).toMatchObject({ code: 0, err: '' });
    const gone = ['wait', '--for=delete', 'replicasets,pods', '-l', 'owners=back', '--timeout=30s'];
    expect(kubectl(...gone).code).toBe(0);
    expect(namesOf('replicasets,pods', 'back')).toEqual([]);
  });

  test('--cascade=orphan leaves what was owned, without that owner', () => {
    makeOwners('kept');
    const args = ['delete', 'replicaset', 'kept-1', '--cascade=orphan', '--timeout=30s'];
    expect(kubectl(...args)).toMatchObject({ code: 0, err: '' });
    expect(namesOf('replicasets', 'kept')).toEqual([]);
    expect(namesOf('pods', 'kept')).toEqual(['pod/kept-1-a', 'pod/kept-1-b']);
    const owners = kubectl('get', 'pods', '-l', 'owners=kept', '-o', 'yaml').out;
    expect(owners).not.toContain('ownerReferences');
  });
});
