// GET of one Pod by whoever asks: a client certificate, a service-account token and a static token,
// each of a user with five of 10,000 bindings, under Node and RBAC; beside nobody in particular
// under AlwaysAllow, which knows no credentials and no rules.
import { writeFileSync } from 'node:fs';
import { namingProfile } from '../../lib/api/vendor.ts';
import type { JsonObject } from '../../lib/api/type-info.ts';
import { createTestCa } from '../../lib/base/testing/certificates.ts';
import { serviceAccountUser } from '../../lib/base/user.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import { Connection, closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import type { ClientIdentity } from '../support/http1-client.ts';
import { accountObject, namespaceObject, podIn } from '../support/objects.ts';
import { token, withBench } from '../support/server.ts';
import type { Bench, Target } from '../support/server.ts';

/** Many short rounds: what is looked for is less than what a busy machine does to a request. */
const bounds = { durationMs: 500, countMax: 100_000 };
const rounds = 15;
const connectionCount = 64;
const [bindingCount, roleCount, bindingsOfUser] = [10_000, 2_000, 5];
const reachUs = 8;
const path = '/api/v1/namespaces/busy/pods/web-000007';
const naming = namingProfile('kubernetes');
const rbacGroup = naming.resolve('rbac.authorization.{v}');
const staticToken = 'bench-bound-token';
const users = ['by-certificate', serviceAccountUser('busy', 'web'), 'by-token'];

/** Roles about other things, and one that lets somebody read Pods. */
const roleOf = (index: number): JsonObject => ({
  kind: 'ClusterRole',
  apiVersion: `${rbacGroup}/v1`,
  metadata: { name: `bench-${String(index)}` },
  rules: Array.from({ length: 10 }, (_, at) => ({
    apiGroups: ['', 'apps'],
    resources: index === 0 && at === 9 ? ['pods'] : [`r${String(index)}-${String(at)}`, 's'],
    verbs: ['get', 'list', 'watch'],
  })),
});

/** The last of each user's bindings is the one that lets it read Pods. */
function bindingOf(index: number): JsonObject {
  const of = Math.floor(index / bindingsOfUser);
  const isOurs = of < users.length;
  const isLast = index % bindingsOfUser === bindingsOfUser - 1;
  const role = isOurs && isLast ? 0 : 1 + (index % (roleCount - 1));
  const name = users[of] ?? `user-${String(of)}`;
  return {
    kind: 'RoleBinding',
    apiVersion: `${rbacGroup}/v1`,
    metadata: { namespace: 'busy', name: `bench-${String(index).padStart(6, '0')}` },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: `bench-${String(role)}` },
    subjects: [{ apiGroup: rbacGroup, kind: 'User', name }],
  };
}

function openFlags(bench: Bench): readonly string[] {
  const file = bench.file('authentication.json');
  const apiVersion = `${naming.resolve('apiserver.config.{v}')}/v1`;
  const anonymous = { enabled: true };
  writeFileSync(
    file,
    JSON.stringify({ apiVersion, kind: 'AuthenticationConfiguration', anonymous }),
  );
  return [
    `--data-dir=${bench.file('open')}`,
    '--authorization-mode=AlwaysAllow',
    `--authentication-config=${file}`,
  ];
}

function boundFlags(bench: Bench, ca: string): readonly string[] {
  const tokens = bench.file('bound-tokens.csv');
  writeFileSync(tokens, `${token},bench,1,"system:masters"\n${staticToken},by-token,2\n`);
  const caFile = bench.file('clients.crt');
  writeFileSync(caFile, ca);
  return [`--token-auth-file=${tokens}`, `--client-ca-file=${caFile}`];
}

async function accountToken({ port }: Target): Promise<string> {
  const body = Buffer.from(JSON.stringify({ spec: { expirationSeconds: 3_600 } }));
  const target = '/api/v1/namespaces/busy/serviceaccounts/web/token';
  const connection = await Connection.open(port, { keepBodies: true });
  const answer = await connection.request(requestBytes('POST', target, body));
  connection.close();
  const { status } = JSON.parse(String(answer.body)) as { status?: { token?: string } };
  if (status?.token === undefined) throw new Error(`no token: ${String(answer.body)}`);
  return status.token;
}

await withBench(async (bench) => {
  await bench.fill(bench.resource('pods'), 100, (index) => podIn(samplePod(index), 'busy', index));
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('busy'));
  await bench.fill(bench.resource('serviceaccounts'), 1, () => ({
    ...accountObject('busy'),
    metadata: { namespace: 'busy', name: 'web', uid: 'b7e6d9d0-52a5-4a3f-9a57-0c8f1f2f4a11' },
  }));
  await bench.fill(bench.resource('clusterroles', rbacGroup), roleCount, roleOf);
  await bench.fill(bench.resource('rolebindings', rbacGroup), bindingCount, bindingOf);
  const ca = await createTestCa('clients');
  const certificate = await ca.issue({ use: 'clientAuth', commonName: 'by-certificate' });
  const open = await bench.server({ flags: openFlags(bench) });
  const bound = await bench.server({ flags: boundFlags(bench, ca.cert) });

  const side = async (name: string, target: Target, bearer: string, identity?: ClientIdentity) => {
    const connections = await openConnections(target.port, connectionCount, identity);
    const request = requestBytes('GET', path, undefined, [], bearer);
    const run = () => closedLoop(connections, () => request, bounds);
    return { name, process: target.process, run };
  };
  const known: readonly Parameters<typeof side>[] = [
    ['client certificate, RBAC', bound, '', certificate],
    ['service-account token, RBAC', bound, await accountToken(bound)],
    ['static token, RBAC', bound, staticToken],
  ];
  console.log(`GET of a Pod of 2.5 KB, ${String(connectionCount)} connections, by who asks`);
  for (const somebody of known) {
    // Connections of their own: those that are idle for long are closed.
    const nobody = await side('anonymous, AlwaysAllow', open, '');
    const sides = await compare([nobody, await side(...somebody)], rounds);
    printSides(sides);
    verdict('CPU-µs more a request', sides[1].addedMicros, { atMost: reachUs });
  }
});
