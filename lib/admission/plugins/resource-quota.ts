// ResourceQuota: a dry run is told what the quotas of its namespace would say. Of a real write they
// say it when it is stored, by a state that its transaction proves.
import { StatusError } from '../../base/status.ts';
import { listObjects } from '../objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { chargeParts, quotaPlugin } from '../quota/charge-parts.ts';
import { chargesOf, isCounted } from '../quota/charges.ts';

type Parts = Pick<
  PluginParts,
  'naming' | 'gates' | 'clock' | 'objects' | 'served' | 'configurationOf'
>;

export function resourceQuota(parts: Parts): AdmissionPlugin | undefined {
  const judging = chargeParts(parts); // a wrong configuration is wrong without quotas, too
  const quotas = parts.objects('', 'resourcequotas');
  if (quotas === undefined) return undefined;
  return {
    name: quotaPlugin,
    sideEffects: false,
    handles: ({ dryRun, operation, namespace }) =>
      dryRun && namespace !== '' && (operation === 'CREATE' || operation === 'UPDATE'),
    async validate(request, object, signal) {
      if (object === undefined) return;
      const { operation, resource, subresource, name, old } = request;
      const write = { operation, resource, subresource, name, object, old };
      if (!isCounted(write, judging)) return;
      const found = await listObjects(quotas, request.namespace, 'latest', signal);
      try {
        chargesOf(write, found, judging);
      } catch (error) {
        // It will be told that the name is taken.
        const isRefusal = error instanceof StatusError && request.operation === 'CREATE';
        if (isRefusal && (await isTaken(request, parts, signal))) return;
        throw error;
      }
    },
  };
}

async function isTaken(
  { resource, namespace, name }: AdmissionRequest,
  { served }: Parts,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await served.find(resource)?.read({ namespace, name }, signal);
  return found !== undefined;
}
