// What a request with a service-account token costs to authenticate, beside a static token: one
// that is known, and one that is verified. The objects lie in a cache over a real etcd.
// Run: node bench/micro/service-account.bench.ts
import { SignJWT } from 'jose';
import { boundPayload } from '../../lib/authn/service-account/claims.ts';
import type { SigningKey } from '../../lib/authn/service-account/keys.ts';
import {
  testAccounts,
  testIssuerName,
} from '../../lib/authn/service-account/testing/test-accounts.ts';
import { newSigningKey } from '../../lib/authn/service-account/testing/test-keys.ts';
import { parseTokenFile, staticTokenAuthenticator } from '../../lib/authn/static-token.ts';
import { unionAuthenticator } from '../../lib/authn/union.ts';
import { testCredentials } from '../../lib/authn/testing/credentials.ts';
import type { Authenticator } from '../../lib/authn/authenticator.ts';
import { RegistryOnEtcd } from '../../lib/registry/testing/registry-on-etcd.ts';
import { VerbDriver } from '../../lib/registry/testing/verb-driver.ts';

const accountCount = 100;
const { signal } = new AbortController();

interface Spent {
  readonly cpuUs: number;
  /** Of the thread that the event loop runs on. */
  readonly loopUs: number;
}

/** Medians of seven rounds, of what one call costs the process and the event loop. */
async function measure(count: number, run: (index: number) => unknown): Promise<Spent> {
  const rounds: Spent[] = [];
  for (let round = 0; round < 7; round++) {
    const thread = process.threadCpuUsage();
    const before = process.cpuUsage();
    for (let index = 0; index < count; index++) {
      const answer = run(index);
      if (answer instanceof Promise) await answer;
    }
    const { user, system } = process.cpuUsage(before);
    const loop = process.threadCpuUsage(thread);
    rounds.push({ cpuUs: (user + system) / count, loopUs: (loop.user + loop.system) / count });
  }
  rounds.sort((a, b) => a.cpuUs - b.cpuUs);
  return rounds[3] ?? { cpuUs: 0, loopUs: 0 };
}

const shown = (name: string, { cpuUs, loopUs }: Spent, note = ''): void => {
  const [cpu, loop] = [cpuUs, loopUs].map((value) => value.toFixed(2).padStart(8));
  console.log(`${name.padEnd(36)} ${cpu ?? ''} CPU-µs ${loop ?? ''} of them on the loop ${note}`);
};

const registry = await RegistryOnEtcd.start();
try {
  const replica = await registry.replica();
  const verbs = new VerbDriver(replica);
  const sign = async (key: SigningKey, id: string): Promise<string> => {
    const name = `a${String(Number(id) % accountCount)}`;
    const [pod, account] = ['pods', 'serviceaccounts'].map((resource) =>
      replica.store(resource).view.peek({ namespace: 'ns', name }),
    );
    const named = (uid = ''): { name: string; uid: string } => ({ name, uid });
    const now = Math.floor(Date.now() / 1000);
    const payload = boundPayload(
      {
        issuer: testIssuerName,
        audiences: [testIssuerName],
        namespace: 'ns',
        account: named(account?.object().metadata?.uid),
        pod: named(pod?.object().metadata?.uid),
        issuedAtSeconds: now,
        expiresAtSeconds: now + 3_600,
        id,
        warnAfterSeconds: undefined,
      },
      replica.naming,
    );
    const header = { alg: key.algorithm, kid: key.id };
    return new SignJWT(payload).setProtectedHeader(header).sign(key.privateKey);
  };
  for (let index = 0; index < accountCount; index++) {
    const metadata = { name: `a${String(index)}` };
    await verbs.create(replica.store('serviceaccounts'), { metadata });
    const spec = { serviceAccountName: metadata.name, containers: [{ name: 'c', image: 'i' }] };
    await verbs.create(replica.store('pods'), { metadata, spec });
  }
  await replica.store('pods').view.list({}, { mode: 'latest' }, { limitCount: 1 }, signal);

  const fixed = staticTokenAuthenticator(parseTokenFile('secret-token,alice,1,"dev"'));
  const ask = (authenticator: Authenticator, token: string): unknown =>
    authenticator.authenticate(testCredentials({ token }), signal);
  const one = unionAuthenticator([fixed]);
  const baseline = await measure(200_000, () => ask(one, 'secret-token'));
  shown('static token', baseline);
  for (const sort of ['RSA', 'P-256'] as const) {
    const key = newSigningKey(sort);
    const { authenticator } = testAccounts(
      replica.naming,
      (resource) => replica.store(resource).view,
      { keys: [key] },
    );
    const accounts = unionAuthenticator([authenticator, fixed]);
    const count = 500;
    const signing = Array.from({ length: count * 7 }, (_, id) => sign(key, String(id)));
    const tokens = await Promise.all(signing);
    let next = 0;
    const uncached = await measure(count, () => ask(accounts, tokens[next++] ?? ''));
    const cached = await measure(100_000, (index) =>
      ask(accounts, tokens[index % tokens.length] ?? ''),
    );
    const added = cached.cpuUs - baseline.cpuUs;
    shown(`${sort}: uncached`, uncached, '(reach: 150 on the loop)');
    shown(`${sort}: cached, bound to a pod`, cached, `${added.toFixed(2)} more (reach: 8)`);
  }
} finally {
  await registry.stop();
}
