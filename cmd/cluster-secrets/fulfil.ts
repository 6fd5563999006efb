// Brings folders of secrets to what a plan says. Private to their owner at every moment; each file
// is replaced in one step. A certificate near its end is renewed, its authority and keys stay.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kubeconfig } from '../apiserver/kubeconfig.ts';
import { makeCa, makeLeaf, makeSigningKey, stillServes } from '../apiserver/pki.ts';
import type { KeyPair, LeafRequest } from '../apiserver/pki.ts';
import type { CertificatePlan, FolderPlan, Plan } from './plan.ts';

export interface FulfilOptions {
  readonly out: string;
  /** In place of the plan's own. */
  readonly server?: string;
}

/** What was made or renewed, a line each. */
export async function fulfil(plan: Plan, { out, server }: FulfilOptions): Promise<string[]> {
  const changes: string[] = [];
  const authority = new Folder(join(out, plan.authorityFolder), undefined, changes);
  const cas = new Map<string, KeyPair>();
  for (const [name, commonName] of Object.entries(plan.authorities)) {
    cas.set(name, await authority.pair(name, () => makeCa(commonName)));
  }
  const signingKeys = new Map<string, string>();
  for (const name of plan.signingKeys) {
    signingKeys.set(name, await authority.key(name, makeSigningKey));
  }
  for (const [name, folderPlan] of Object.entries(plan.folders)) {
    const folder = new Folder(join(out, name), folderPlan.owner, changes);
    await fill(folder, folderPlan, { cas, signingKeys, server });
  }
  return changes;
}

interface Sources {
  readonly cas: ReadonlyMap<string, KeyPair>;
  readonly signingKeys: ReadonlyMap<string, string>;
  readonly server: string | undefined;
}

async function fill(folder: Folder, plan: FolderPlan, sources: Sources): Promise<void> {
  const { cas, signingKeys, server } = sources;
  for (const name of plan.trusts ?? []) folder.write(`${name}-ca.crt`, found(cas, name).cert);
  for (const name of plan.signingKeys ?? []) {
    const key = found(signingKeys, name);
    folder.write(`${name}.key`, key);
    const publicKey = createPublicKey(createPrivateKey(key));
    folder.write(`${name}.pub`, publicKey.export({ type: 'spki', format: 'pem' }).toString());
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
      caCert: found(cas, config.authority).cert,
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

class Folder {
  readonly #path: string;
  readonly #owner: number | undefined;
  readonly #changes: string[];

  constructor(path: string, owner: number | undefined, changes: string[]) {
    this.#path = path;
    this.#owner = owner;
    this.#changes = changes;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
    this.#give(path);
  }

  async pair(
    name: string,
    make: () => Promise<KeyPair>,
    serves: (pair: KeyPair) => boolean = () => true,
  ): Promise<KeyPair> {
    const [key, cert] = [this.#read(`${name}.key`), this.#read(`${name}.crt`)];
    if (key !== undefined && cert !== undefined && serves({ key, cert })) return { key, cert };
    const made = await make();
    this.write(`${name}.key`, made.key);
    this.write(`${name}.crt`, made.cert);
    return made;
  }

  async key(name: string, make: () => Promise<string>): Promise<string> {
    const kept = this.#read(`${name}.key`);
    if (kept !== undefined) return kept;
    const made = await make();
    this.write(`${name}.key`, made);
    return made;
  }

  /** Nothing happens where the file says so already. */
  write(name: string, text: string): void {
    if (this.#read(name) === text) return;
    const path = join(this.#path, name);
    writeFileSync(`${path}.new`, text, { mode: 0o400 });
    this.#give(`${path}.new`);
    renameSync(`${path}.new`, path);
    this.#changes.push(path);
  }

  #read(name: string): string | undefined {
    try {
      return readFileSync(join(this.#path, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  #give(path: string): void {
    if (this.#owner === undefined || process.getuid?.() !== 0) return;
    chownSync(path, this.#owner, this.#owner);
  }
}
