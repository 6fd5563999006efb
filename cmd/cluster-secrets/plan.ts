// The plan of a deployment's secrets: who owns which folder, and what lies in it.
import { load } from 'js-yaml';

export interface Plan {
  /** The folder that private keys of authorities stay in. */
  readonly authorityFolder: string;
  /** Common names of CAs, by the name of their files. */
  readonly authorities: Readonly<Record<string, string>>;
  /** Names of the files of private keys that sign tokens. */
  readonly signingKeys: readonly string[];
  readonly folders: Readonly<Record<string, FolderPlan>>;
}

export interface FolderPlan {
  /** Id of the user and group that own the folder and all in it. */
  readonly owner?: number;
  /** Certificates of which authorities are there as NAME-ca.crt. */
  readonly trusts?: readonly string[];
  /** Which signing keys are there as NAME.key and NAME.pub. */
  readonly signingKeys?: readonly string[];
  /** Certificates NAME.crt with their keys NAME.key. */
  readonly certificates?: Readonly<Record<string, CertificatePlan>>;
  /** NAME.kubeconfig; of a certificate of this folder. */
  readonly kubeconfigs?: Readonly<Record<string, KubeconfigPlan>>;
}

export interface CertificatePlan {
  readonly authority: string;
  /** peer: both, as members of etcd need among themselves. */
  readonly use: 'server' | 'client' | 'peer';
  readonly commonName: string;
  /** DNS names and IP addresses it is good for; of those that serve. */
  readonly names?: readonly string[];
  /** Groups of the user; of those that are clients alone. */
  readonly organizations?: readonly string[];
}

export interface KubeconfigPlan {
  readonly certificate: string;
  /** Authority of the server's certificate. */
  readonly authority: string;
  readonly server: string;
}

const folderFields = ['owner', 'trusts', 'signingKeys', 'certificates', 'kubeconfigs'];
const uses = ['server', 'client', 'peer'];

/** @throws Error that names what is wrong with the plan. */
export function readPlan(text: string): Plan {
  const plan = load(text) as Plan | null; // its parts are looked at below
  if (plan === null || typeof plan !== 'object') throw new Error('the plan is empty');
  const { authorities, authorityFolder, signingKeys, folders } = plan;
  if (typeof authorityFolder !== 'string') refuse('authorityFolder', 'must name a folder');
  for (const name of [authorityFolder, ...Object.keys(folders)]) checkName(name);
  for (const [name, folder] of Object.entries(folders)) {
    const unknown = Object.keys(folder).find((field) => !folderFields.includes(field));
    if (unknown !== undefined) refuse(`folders.${name}`, `has no field ${unknown}`);
    for (const authority of folder.trusts ?? []) known(`folders.${name}.trusts`, authority);
    for (const key of folder.signingKeys ?? []) {
      if (!signingKeys.includes(key)) refuse(`folders.${name}.signingKeys`, `no key ${key}`);
    }
    for (const [leaf, { authority, use }] of Object.entries(folder.certificates ?? {})) {
      checkName(leaf);
      known(`folders.${name}.certificates.${leaf}`, authority);
      if (!uses.includes(use)) refuse(`folders.${name}.certificates.${leaf}`, uses.join(' or '));
    }
    for (const [file, config] of Object.entries(folder.kubeconfigs ?? {})) {
      checkName(file);
      known(`folders.${name}.kubeconfigs.${file}`, config.authority);
      if (folder.certificates?.[config.certificate] === undefined) {
        refuse(`folders.${name}.kubeconfigs.${file}`, `no certificate ${config.certificate}`);
      }
    }
  }
  return plan;

  function known(field: string, authority: string): void {
    if (authorities[authority] === undefined) refuse(field, `no authority ${authority}`);
  }
}

function checkName(name: string): void {
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)) refuse(name, 'is no name of a file');
}

function refuse(field: string, message: string): never {
  throw new Error(`${field}: ${message}`);
}
