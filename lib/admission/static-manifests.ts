// Configurations of admission that lie in files, not in the API: in force before the first request,
// whatever is stored, and on requests about configurations, too.
import { ownMember } from '../api/json-value.ts';
import { recordAt, recordsAt, textAt } from '../api/json-access.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { sortUtf8 } from '../base/utf8-order.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { staticSuffix } from '../kinds/admissionregistration/static-names.ts';
import { readYaml } from '../codec/yaml-reader.ts';
import { yamlDocuments } from '../codec/yaml-documents.ts';
import { isObject } from '../api/json-value.ts';

/** An object of a file, defaulted and valid, in the stored version: as an item of a view. */
export type StaticManifest = Pick<Item, 'name' | 'corrupted' | 'object'>;

export interface StaticManifests {
  /**
   * Of a resource of the configuration group, by name: the same list until a file changes. They are
   * judged before those of the API.
   */
  of(resource: string): readonly StaticManifest[];
}

/** Plural names of what each plugin may be given in files. */
export const manifestResources: Readonly<Record<string, readonly string[]>> = {
  MutatingAdmissionPolicy: ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'],
  MutatingAdmissionWebhook: ['mutatingwebhookconfigurations'],
  ValidatingAdmissionPolicy: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
  ValidatingAdmissionWebhook: ['validatingwebhookconfigurations'],
};

export interface ManifestFile {
  /** As messages show it. */
  readonly path: string;
  readonly text: string;
}

export interface ManifestReader {
  readonly naming: NamingProfile;
  /** In the version in which files may have them. */
  readonly resources: readonly ResourceInfo[];
  /** The object as the API would store it. @throws StatusError that names the fields */
  complete(resource: ResourceInfo, object: JsonObject): Promise<Readonly<ApiObject>>;
}

/** By plural name. */
export type ManifestSet = ReadonlyMap<string, readonly StaticManifest[]>;

/** @throws Error that names the file and the field */
export async function readManifests(
  files: readonly ManifestFile[],
  reader: ManifestReader,
): Promise<ManifestSet> {
  const found = new Map<string, Map<string, StaticManifest>>();
  for (const { resource } of reader.resources) found.set(resource, new Map());
  for (const { path, text } of files) {
    try {
      for (const document of objectsIn(text)) await add(document, path, reader, found);
    } catch (error) {
      throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
    }
  }
  checkBindings(found);
  return new Map([...found].map(([resource, byName]) => [resource, sorted(byName)]));
}

function sorted(byName: ReadonlyMap<string, StaticManifest>): readonly StaticManifest[] {
  return sortUtf8([...byName.keys()]).flatMap((name) => byName.get(name) ?? []);
}

/** Those of lists, too. @throws Error, StatusError */
function objectsIn(text: string): readonly JsonObject[] {
  return yamlDocuments(text).flatMap((document) => {
    const { value, duplicates } = readYaml(document);
    if (value === null) return [];
    if (!isObject(value)) throw new Error('must hold an object');
    const [twice] = duplicates;
    if (twice !== undefined)
      throw new Error(`strict decoding error: duplicate field "${twice.path}"`);
    const isList = textAt(value, 'kind') === 'List' && textAt(value, 'apiVersion') === 'v1';
    return isList ? recordsAt(value, 'items') : [value];
  });
}

async function add(
  object: JsonObject,
  path: string,
  reader: ManifestReader,
  found: ReadonlyMap<string, Map<string, StaticManifest>>,
): Promise<void> {
  const kind = textAt(object, 'kind');
  const apiVersion = textAt(object, 'apiVersion');
  const resource = reader.resources.find(
    (one) => one.kind.kind === kind && apiVersionOf(one.kind) === apiVersion,
  );
  if (resource === undefined) {
    throw new Error(`unsupported resource type ${apiVersion || '""'}, Kind=${kind || '""'}`);
  }
  const name = textAt(recordAt(object, 'metadata'), 'name');
  const suffix = staticSuffix(reader.naming);
  if (!name.endsWith(suffix)) {
    throw new Error(`${kind} "${name}": metadata.name must end with "${suffix}"`);
  }
  const byName = found.get(resource.resource);
  if (byName === undefined || byName.has(name)) {
    throw new Error(`${kind} "${name}": metadata.name is that of another ${kind} of the folder`);
  }
  const why = whyNotInFile(object);
  if (why !== undefined) throw new Error(`${kind} "${name}": ${why}`);
  const complete = await reader.complete(resource, object);
  byName.set(name, { name, corrupted: false, object: () => complete });
}

/** What needs the API cannot be said in a file. */
function whyNotInFile(object: JsonObject): string | undefined {
  const spec = recordAt(object, 'spec') ?? {};
  for (const name of ['paramKind', 'paramRef']) {
    if (ownMember(spec, name) !== undefined) {
      return `spec.${name} is not supported for static manifests`;
    }
  }
  for (const [at, webhook] of recordsAt(object, 'webhooks').entries()) {
    const config = recordAt(webhook, 'clientConfig') ?? {};
    if (ownMember(config, 'service') === undefined && textAt(config, 'url') !== '') continue;
    return (
      `webhooks[${String(at)}].clientConfig: static manifests call webhooks by url only, ` +
      'service is not supported'
    );
  }
  return undefined;
}

/** @throws Error for a binding to a policy that is not in the folder */
function checkBindings(found: ReadonlyMap<string, ReadonlyMap<string, StaticManifest>>): void {
  for (const [policies, bindings] of Object.values(manifestResources)) {
    for (const binding of found.get(bindings ?? '')?.values() ?? []) {
      const policyName = textAt(recordAt(binding.object(), 'spec'), 'policyName');
      if (found.get(policies ?? '')?.has(policyName) === true) continue;
      throw new Error(
        `binding "${binding.name}": spec.policyName: policy "${policyName}" ` +
          'does not exist in the manifest directory',
      );
    }
  }
}
