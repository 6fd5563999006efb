// Every served kind through kubectl: it explains the kind, and takes it for dry runs and
// differences, which it does only where the OpenAPI documents say that it may. KUBECTL names
// another kubectl than the one on PATH, of any age from 1.20.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestCluster } from './harness.ts';

const command = process.env['KUBECTL'] ?? 'kubectl';
const hasKubectl = spawnSync(command, ['version', '--client']).status === 0;
const folder = mkdtempSync(join(tmpdir(), 'apiserver-kinds-'));
let cluster: TestCluster;

interface Served {
  readonly apiVersion: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}
interface Discovered {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources: readonly {
        readonly resource: string;
        readonly responseKind: { readonly kind: string };
        readonly scope: string;
        readonly verbs: readonly string[];
      }[];
    }[];
  }[];
}

async function served(path: string): Promise<Served[]> {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const reply = await cluster.replica(0).request('GET', path, { headers: { accept } });
  return reply.json<Discovered>().items.flatMap(({ metadata: { name }, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.map(({ resource, responseKind, scope, verbs }) => ({
        apiVersion: name === undefined ? version : `${name}/${version}`,
        resource,
        kind: responseKind.kind,
        namespaced: scope === 'Namespaced',
        verbs,
      })),
    ),
  );
}

/** What it printed, standard error included; its end with an error is part of that. */
function kubectl(...flags: readonly string[]): Promise<string> {
  const { kubeconfig } = cluster.replica(0);
  const env = { ...process.env, HOME: folder, KUBECONFIG: kubeconfig };
  return new Promise((resolve) => {
    execFile(command, flags, { env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve(`${stdout}${stderr}${error?.killed === true ? 'killed' : ''}`);
    });
  });
}

/** What kubectl says when it finds that a document lacks what it needs, or cannot read it. */
const complaints =
  /support dry|dry.?run is not|couldn't find resource|unable to (?:read|parse)|killed/i;

/** It is explained, without and with what lies in its fields. */
async function explanationFaults({ apiVersion, resource }: Served): Promise<string[]> {
  const version = `--api-version=${apiVersion}`;
  const [explained, whole] = await Promise.all([
    kubectl('explain', resource, version),
    kubectl('explain', resource, '--recursive', version),
  ]);
  const isExplained = /^KIND: +/m.test(explained) && /^FIELDS:/m.test(whole);
  return isExplained ? [] : [apiVersion, explained, whole];
}

const manifestOf = ({ apiVersion, resource }: Served): string =>
  join(folder, 'manifests', `${apiVersion.replace('/', '-')}-${resource}.json`);

function writeManifest(served: Served): void {
  const { apiVersion, kind, namespaced } = served;
  const metadata = { name: 'sample', ...(namespaced ? { namespace: 'default' } : {}) };
  writeFileSync(manifestOf(served), JSON.stringify({ apiVersion, kind, metadata }));
}

/** How many objects it says something of: that one was made, or what it lacks. */
const verdictCount = (said: string): number =>
  said.match(/^(?:Error from server|\S+ created)/gm)?.length ?? 0;

const complaintsIn = (said: string): string[] => (complaints.test(said) ? [said] : []);

(hasKubectl ? describe : describe.skip)('kubectl, for every kind', () => {
  beforeAll(async () => {
    const serverFlags = ['--runtime-config=api/all=true'];
    cluster = await TestCluster.start({ naming: 'kubernetes', serverFlags });
  });
  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('explains it, tries it out and shows what would change', async () => {
    const all = [...(await served('/api')), ...(await served('/apis'))];
    expect(all.length).toBeGreaterThan(80);
    const patched = all.filter(({ verbs }) => verbs.includes('patch'));
    const faults: string[] = [];
    for (const one of all) faults.push(...(await explanationFaults(one)));
    mkdirSync(join(folder, 'manifests'));
    for (const one of patched) writeManifest(one);
    // Both go on after what they are refused; differences end with it.
    for (const verb of ['create', 'apply']) {
      const flags = ['--dry-run=server', '--validate=false', '-f', join(folder, 'manifests')];
      const said = await kubectl(verb, ...flags);
      faults.push(...complaintsIn(said));
      expect(verdictCount(said)).toBe(patched.length);
    }
    for (const one of patched) {
      faults.push(...complaintsIn(await kubectl('diff', '-f', manifestOf(one))));
    }
    expect(faults).toEqual([]);
  });
});
