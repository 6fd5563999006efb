// Every served kind through kubectl: it explains the kind, and takes it for dry runs and
// differences, which it does only where the OpenAPI documents say that it may. KUBECTL names
// another kubectl than the one on PATH, of any age from 1.20.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

async function faultsOf({
  apiVersion,
  resource,
  kind,
  namespaced,
  verbs,
}: Served): Promise<string[]> {
  const version = `--api-version=${apiVersion}`;
  const explained = await kubectl('explain', resource, version);
  const whole = await kubectl('explain', resource, '--recursive', version);
  const faults = /^KIND: +/m.test(explained) && /^FIELDS:/m.test(whole) ? [] : [explained, whole];
  if (!verbs.includes('patch')) return faults;
  const file = join(folder, `${apiVersion.replace('/', '-')}-${resource}.json`);
  const metadata = { name: 'sample', ...(namespaced ? { namespace: 'default' } : {}) };
  writeFileSync(file, JSON.stringify({ apiVersion, kind, metadata }));
  for (const flags of [['create', '--dry-run=server'], ['apply', '--dry-run=server'], ['diff']]) {
    const validate = flags[0] === 'diff' ? [] : ['--validate=false'];
    const said = await kubectl(...flags, ...validate, '-f', file);
    if (complaints.test(said)) faults.push(said);
  }
  return faults;
}

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
    const faults: [string, string, string[]][] = [];
    for (const one of all) {
      const found = await faultsOf(one);
      if (found.length > 0) faults.push([one.apiVersion, one.resource, found]);
    }
    expect(faults).toEqual([]);
  });
});
