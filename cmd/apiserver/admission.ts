// The admission chain of the plugins that are on: what each is made of, and how long it takes.
import { admissionChain } from '../../lib/admission/chain.ts';
import type { AdmissionChain } from '../../lib/admission/chain.ts';
import type { RulesInForce } from '../../lib/admission/in-force.ts';
import { provenPlugin } from '../../lib/admission/proven-plugin.ts';
import { measuredChain, measuredPlugin } from '../../lib/admission/measured.ts';
import type { AdmissionObserver } from '../../lib/admission/measured.ts';
import { tracedChain } from '../../lib/admission/traced.ts';
import type { Objects } from '../../lib/admission/objects.ts';
import type { AdmissionPlugin } from '../../lib/admission/plugin.ts';
import type { PluginParts } from '../../lib/admission/plugin-parts.ts';
import type { PluginRow } from '../../lib/admission/plugin-table.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import { FlagError } from '../../lib/config/flags.ts';
import { isSegment } from '../../lib/storage-etcd/keys.ts';
import type { Keyspace } from '../../lib/storage-etcd/keys.ts';
import type { Storage } from '../../lib/storage-etcd/storage.ts';
import type { ChosenPlugins } from './chosen-plugins.ts';
import type { Logger } from '../../lib/base/log.ts';
import type { WebhookCalls } from './webhook-calls.ts';

type GivenHere = 'objects' | 'configurationOf' | 'log' | 'atEnd' | 'openWebhookCaller';

export interface AdmissionOptions extends Omit<PluginParts, GivenHere> {
  readonly webhooks: WebhookCalls;
  readonly plugins: ChosenPlugins;
  readonly storage: Storage;
  readonly keyspace: Keyspace;
  readonly cache: Cache;
  readonly observer: AdmissionObserver;
  /** undefined: there are no rules in the API. */
  readonly rulesInForce: RulesInForce | undefined;
  readonly logger: Logger;
  readonly started: AsyncDisposableStack;
}

/** @throws FlagError for a plugin whose configuration is wrong */
export async function openAdmission(options: AdmissionOptions): Promise<AdmissionChain> {
  const { plugins, observer } = options;
  const parts = pluginParts(options);
  const made: AdmissionPlugin[] = [];
  for (const row of plugins.rows) {
    const plugin = await make(row, parts);
    if (plugin !== undefined) made.push(measuredPlugin(proven(plugin, options), observer));
  }
  const chain = measuredChain(admissionChain(made), observer);
  return options.tracing === undefined ? chain : tracedChain(chain, options.tracing);
}

export const pluginParts = (options: AdmissionOptions): PluginParts => ({
  ...options,
  log: options.logger,
  atEnd: (close) => {
    options.started.defer(close);
  },
  objects: (group, resource) => objectsOf(options, group, resource),
  openWebhookCaller: (file) => options.webhooks.open(options.calls, file),
  configurationOf: (name) => options.plugins.configurations.get(name),
});

const proven = (
  plugin: AdmissionPlugin,
  { rulesInForce, served }: AdmissionOptions,
): AdmissionPlugin =>
  plugin.isConfigured === true && rulesInForce !== undefined
    ? provenPlugin(plugin, rulesInForce, (resource) => served.equivalentsOf(resource))
    : plugin;

async function make(row: PluginRow, parts: PluginParts): Promise<AdmissionPlugin | undefined> {
  try {
    return await row.make(parts);
  } catch (cause) {
    const { message } = cause as Error;
    const flag = '--admission-control-config-file';
    throw new FlagError(`${flag}: ${row.name}: ${message}`, { cause });
  }
}

function objectsOf(
  { scheme, naming, storage, keyspace, cache }: AdmissionOptions,
  group: string,
  resource: string,
): Objects | undefined {
  const record = scheme.storedResource(naming.resolve(group), resource);
  if (record === undefined) return undefined;
  const view = cache.view(record);
  return {
    view,
    async lookUp({ namespace, name }, signal) {
      if (!isSegment(name)) return undefined;
      const key = keyspace.key(record.storagePrefix, namespace, name);
      const { item } = await storage.get(key, signal);
      return item === undefined ? undefined : view.itemOf(item);
    },
  };
}
