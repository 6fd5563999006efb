// The file of --admission-control-config-file: a document for each plugin, embedded or in a file
// of its own. Decoding is strict, since a rule that is misspelt would not hold.
import type { JsonObject } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { StrictFields, readDocument } from '../codec/strict-fields.ts';
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
  const document = readDocument(text);
  const bare = bareConfigurations(document);
  if (bare !== undefined) return bare;
  const apiVersions = [naming.resolve('apiserver.config.{v}/v1')];
  const root = StrictFields.of(document, { kind: 'AdmissionConfiguration', apiVersions });
  const plugins = root.objects('plugins').map((plugin) => ({
    at: plugin,
    name: plugin.text('name'),
    file: plugin.text('path'),
    embedded: plugin.record('configuration'),
  }));
  root.finish();
  const configurations = new Map<string, JsonObject>();
  for (const { at, name, file, embedded } of plugins) {
    const path = at.path('name');
    checkName(name, path);
    if (configurations.has(name)) throw new Error(`${path}: ${name} is configured twice`);
    const configuration = embedded ?? configurationIn(file, at.path('path'), readFile);
    if (configuration !== undefined) configurations.set(name, configuration);
  }
  return configurations;
}

/** undefined: it is another document. */
function bareConfigurations(document: JsonObject): PluginConfigurations | undefined {
  const members = Object.keys(document);
  const configurations = new Map<string, JsonObject>();
  for (const member of members) {
    const plugin = bareDocuments.get(member);
    if (plugin === undefined) return undefined;
    configurations.set(plugin, { [member]: document[member] });
  }
  return members.length === 0 ? undefined : configurations;
}

function checkName(name: string, path: string): void {
  if (pluginTable.some((row) => row.name === name)) return;
  const known = pluginTable.map((row) => row.name).join(', ');
  throw new Error(`${path}: ${JSON.stringify(name)} is no admission plugin; there are ${known}`);
}

/** undefined: no file is named. */
function configurationIn(file: string, path: string, readFile: ReadFile): JsonObject | undefined {
  if (file === '') return undefined;
  try {
    return readDocument(readFile(file));
  } catch (error) {
    throw new Error(`${path}: ${file}: ${(error as Error).message}`, { cause: error });
  }
}
