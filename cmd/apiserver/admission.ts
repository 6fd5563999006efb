// The admission chain of the plugins that are on: what each is made of, and how long it takes.
import { admissionChain } from '../../lib/admission/chain.ts';
import type { AdmissionChain } from '../../lib/admission/chain.ts';
import type { RulesInForce } from '../../lib/admission/in-force.ts';
import { provenPlugin } from '../../lib/admission/proven-plugin.ts';
import { measuredChain, measuredPlugin } from '../../lib/admission/measured.ts';
import type { AdmissionObserver } from '../../lib/admission/measured.ts';
import type { Objects } from '../../lib/admission/objects.ts';
import type { AdmissionPlugin } from '../../lib/admission/plugin.ts';
import type { PluginParts } from '../../lib/admission/plugin-parts.ts';
import type { PluginRow } from '../../lib/admission/plugin-table.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import { isSegment } from '../../lib/storage-etcd/keys.ts';
import type { Keyspace } from '../../lib/storage-etcd/keys.ts';
import type { Storage } from '../../lib/storage-etcd/storage.ts';
import type { ChosenPlugins } from './chosen-plugins.ts';
import type { Logger } from '../../lib/base/log.ts';
import { orFlagError } from './from-flags.ts';
import type { WebhookCalls } from './webhook-calls.ts';

export interface AdmissionOptions extends Omit<
  PluginParts,
  'objects' | 'configurationOf' | 'log' | 'openWebhookCaller'
> {
  readonly webhooks: WebhookCalls;
  readonly plugins: ChosenPlugins;
  readonly storage: Storage;
  readonly keyspace: Keyspace;
  readonly cache: Cache;
  readonly observer: AdmissionObserver;
  /** undefined: there are no rules in the API. */
  readonly rulesInForce: RulesInForce | undefined;
  readonly logger: Logger;
}

/** @throws FlagError for a plugin whose configuration is wrong */
export function openAdmission(options: AdmissionOptions): AdmissionChain {
  const { plugins, observer } = options;
  const parts: PluginParts = {
    ...options,
    log: options.logger,
    objects: (group, resource) => objectsOf(options, group, resource),
    openWebhookCaller: (file) => options.webhooks.open(options.calls, file),
    configurationOf: (name) => plugins.configurations.get(name),
  };
  const made = plugins.rows
    .map((row) => make(row, parts))
    .filter((plugin) => plugin !== undefined)
    .map((plugin) => measuredPlugin(proven(plugin, options), observer));
  return measuredChain(admissionChain(made), observer);
}

const proven = (plugin: AdmissionPlugin, { rulesInForce }: AdmissionOptions): AdmissionPlugin =>
  plugin.isConfigured === true && rulesInForce !== undefined
    ? provenPlugin(plugin, rulesInForce)
    : plugin;

const make = (row: PluginRow, parts: PluginParts): AdmissionPlugin | undefined =>
  orFlagError('admission-control-config-file', () => {
    try {
      return row.make?.(parts);
    } catch (error) {
      throw new Error(`${row.name}: ${(error as Error).message}`, { cause: error });
    }
  });

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
