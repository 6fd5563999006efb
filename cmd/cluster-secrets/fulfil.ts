// Brings folders of secrets to what a plan says. A certificate near its end is renewed, its
// authority and keys stay, until a step of their rotation says otherwise.
import { join } from 'node:path';
import { kubeconfig } from '../apiserver/kubeconfig.ts';
import { makeCa, makeLeaf, makeSigningKey, stillServes } from '../apiserver/pki.ts';
import type { KeyPair, LeafRequest } from '../apiserver/pki.ts';
import type { CertificatePlan, FolderPlan, Plan } from './plan.ts';
import { publicOf, Rotation } from './rotation.ts';
import type { RotationStep } from './rotation.ts';
import { SecretFolder } from './secret-folder.ts';

export interface FulfilOptions {
  readonly out: string;
  /** In place of the plan's own. */
  readonly server?: string;
  /** Is taken first. */
  readonly step?: RotationStep;
}

/**
 * What was made, renewed or removed, a line each.
 * @throws Error for a step that cannot be taken now
 */
export async function fulfil(plan: Plan, options: FulfilOptions): Promise<string[]> {
  const { out, server, step } = options;
  const changes: string[] = [];
  const authority = new SecretFolder(join(out, plan.authorityFolder), undefined, changes);
  const rotation = new Rotation(plan, authority);
  if (step !== undefined) await rotation.take(step);
  const cas = new Map<string, KeyPair>();
  for (const [name, commonName] of Object.entries(plan.authorities)) {
    cas.set(name, await authority.pair(name, () => makeCa(commonName)));
  }
  const signingKeys = new Map<string, string>();
  for (const name of plan.signingKeys) {
    signingKeys.set(name, await authority.key(name, makeSigningKey));
  }
  for (const [name, folderPlan] of Object.entries(plan.folders)) {
    const folder = new SecretFolder(join(out, name), folderPlan.owner, changes);
    await fill(folder, folderPlan, { cas, signingKeys, server, rotation });
  }
  return changes;
}

interface Sources {
  readonly cas: ReadonlyMap<string, KeyPair>;
  readonly signingKeys: ReadonlyMap<string, string>;
  readonly server: string | undefined;
  readonly rotation: Rotation;
}

async function fill(folder: SecretFolder, plan: FolderPlan, sources: Sources): Promise<void> {
  const { cas, signingKeys, server, rotation } = sources;
  const trusted = (name: string): string => rotation.trusted(name, found(cas, name).cert);
  for (const name of plan.trusts ?? []) folder.write(`${name}-ca.crt`, trusted(name));
  for (const name of plan.signingKeys ?? []) {
    const key = found(signingKeys, name);
    folder.write(`${name}.key`, key);
    folder.write(`${name}.pub`, rotation.trusted(name, publicOf(key)));
  }
  const pairs = new Map<string, KeyPair>();
  for (const [name, certificate] of Object.entries(plan.certificates ?? {})) {
    const ca = found(cas, certificate.authority);
    const serves = (pair: KeyPair): boolean => stillServes(pair, ca, certificate.names ?? []);
    pairs.set(name, await folder.pair(name, () => issue(ca, certificate), serves));
  }
  for (const [name, config] of Object.entries(plan.kubeconfigs ?? {})) {
    const text = kubeconfig({
      server: server ?? config.server,
      caCert: trusted(config.authority),
      client: found(pairs, config.certificate),
    });
    folder.write(`${name}.kubeconfig`, text);
  }
}

/** With the authority behind it: whoever is shown the file has the whole path. */
async function issue(ca: KeyPair, certificate: CertificatePlan): Promise<KeyPair> {
  const { key, cert } = await makeLeaf(ca, requestOf(certificate));
  return { key, cert: `${cert}${ca.cert}` };
}

function requestOf({ use, commonName, ...plan }: CertificatePlan): LeafRequest {
  if (use === 'client') return { use, commonName, organizations: plan.organizations ?? [] };
  return { use, commonName, names: plan.names ?? [] };
}

/** @throws Error for a name that the plan has not; `readPlan` has looked for it. */
function found<T>(map: ReadonlyMap<string, T>, name: string): T {
  const value = map.get(name);
  if (value === undefined) throw new Error(`the plan has no ${name}`);
  return value;
}
