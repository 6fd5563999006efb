// The file of --admission-control-config-file: a document for each plugin, embedded or in a file
// of its own. Decoding is strict, since a rule that is misspelt would not hold.
import { asRecord, textAt, valueAt } from '../api/json-access.ts';
import { isObject } from '../api/json-value.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { readYaml } from '../codec/yaml-reader.ts';
import { pluginTable } from './plugin-table.ts';

/** A plugin's document, parsed and not checked. */
export type PluginConfigurations = ReadonlyMap<string, JsonObject>;

/** Reads the text of a file; a relative path counts from the folder of the configuration. */
type ReadFile = (path: string) => string;

/** These are configured by the bare document too, as it was before there was a file for all. */
const bareDocuments: ReadonlyMap<string, string> = new Map([
  ['imagePolicy', 'ImagePolicyWebhook'],
  ['podNodeSelectorPluginConfig', 'PodNodeSelector'],
]);

/**
 * @param text YAML or JSON
 * @throws Error that says what is wrong and where, without the name of the file itself
 */
export function readAdmissionConfiguration(
  text: string,
  naming: NamingProfile,
  readFile: ReadFile,
): PluginConfigurations {
  const document = asDocument(text);
  const [first] = Object.keys(document);
  const bare = bareDocuments.get(first ?? '');
  if (bare !== undefined) return new Map([[bare, document]]);
  const wanted = naming.resolve('apiserver.config.{v}/v1');
  const [kind, apiVersion] = [textAt(document, 'kind'), textAt(document, 'apiVersion')];
  if (kind !== 'AdmissionConfiguration' || apiVersion !== wanted) {
    throw new Error(
      `must be of kind AdmissionConfiguration in version ${wanted}, it is of ` +
        `kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
    );
  }
  onlyMembers(document, ['kind', 'apiVersion', 'plugins'], '');
  const configurations = new Map<string, JsonObject>();
  for (const [at, entry] of entriesOf(valueAt(document, 'plugins'), 'plugins').entries()) {
    const path = `plugins[${String(at)}]`;
    const { name, configuration } = pluginOf(entry, path, readFile);
    if (configurations.has(name)) throw new Error(`${path}.name: ${name} is configured twice`);
    if (configuration !== undefined) configurations.set(name, configuration);
  }
  return configurations;
}

function entriesOf(value: JsonValue | undefined, path: string): readonly JsonValue[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new Error(`${path}: must be a list`);
}

function pluginOf(
  entry: JsonValue,
  path: string,
  readFile: ReadFile,
): { readonly name: string; readonly configuration: JsonObject | undefined } {
  const plugin = asRecord(entry);
  if (plugin === undefined) throw new Error(`${path}: must be an object`);
  onlyMembers(plugin, ['name', 'path', 'configuration'], `${path}.`);
  for (const member of ['name', 'path']) {
    const value = valueAt(plugin, member);
    if (value !== undefined && typeof value !== 'string') {
      throw new Error(`${path}.${member}: must be a text`);
    }
  }
  const name = textAt(plugin, 'name');
  if (!pluginTable.some((row) => row.name === name)) {
    const known = pluginTable.map((row) => row.name).join(', ');
    throw new Error(
      `${path}.name: ${JSON.stringify(name)} is no admission plugin; there are ${known}`,
    );
  }
  const embedded = valueAt(plugin, 'configuration');
  const file = textAt(plugin, 'path');
  if (embedded === undefined && file === '') return { name, configuration: undefined };
  if (embedded !== undefined) {
    if (isObject(embedded)) return { name, configuration: embedded };
    throw new Error(`${path}.configuration: must be an object`);
  }
  try {
    return { name, configuration: asDocument(readFile(file)) };
  } catch (error) {
    throw new Error(`${path}.path: ${file}: ${(error as Error).message}`, { cause: error });
  }
}

function asDocument(text: string): JsonObject {
  const { value, duplicates } = readYaml(text);
  const [twice] = duplicates;
  if (twice !== undefined)
    throw new Error(`strict decoding error: duplicate field "${twice.path}"`);
  if (!isObject(value)) throw new Error('must hold an object');
  return value;
}

function onlyMembers(object: JsonObject, known: readonly string[], prefix: string): void {
  const other = Object.keys(object).find((name) => !known.includes(name));
  if (other === undefined) return;
  throw new Error(`strict decoding error: unknown field "${prefix}${other}"`);
}
