// What quotas add to writes, where their plugin is on.
import { chargeParts, quotaPlugin } from '../../lib/admission/quota/charge-parts.ts';
import { QuotaCompanions } from '../../lib/registry/quota/quota-companions.ts';
import { pluginParts } from './admission.ts';
import type { AdmissionOptions } from './admission.ts';
import type { Base } from './base.ts';
import { orFlagError } from './from-flags.ts';

/** undefined: no quota limits anything. @throws FlagError for a wrong configuration. */
export function openQuotas(
  { scheme, media, metrics }: Base,
  options: AdmissionOptions,
): QuotaCompanions | undefined {
  const { plugins, keyspace, cache } = options;
  const resource = scheme.storedResource('', 'resourcequotas');
  const isOn = plugins.rows.some(({ name }) => name === quotaPlugin);
  if (!isOn || resource === undefined) return undefined;
  const transactions = metrics.series.apiserver_admission_quota_transactions_total;
  return new QuotaCompanions({
    ...{ resource, keyspace, media },
    view: cache.view(resource),
    charging: orFlagError('admission-control-config-file', () => chargeParts(pluginParts(options))),
    observe: (result) => transactions.child(result).value++,
  });
}
