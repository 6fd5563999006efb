// What the two plugins of webhooks are made of.
import { isAbsolute } from 'node:path';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Scheme } from '../../api/scheme.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import { StrictFields } from '../../codec/strict-fields.ts';
import type { Objects } from '../objects.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { WebhookConditions } from './webhook-conditions.ts';
import type { AskingParts } from './webhook-asking.ts';
import { webhookMetrics } from './webhook-metrics.ts';
import { WebhookSource } from './webhook-source.ts';

export interface WebhookParts {
  readonly naming: NamingProfile;
  readonly scheme: Scheme;
  readonly authorizer: Authorizer;
  readonly namespaces: Objects | undefined;
  readonly source: WebhookSource;
  readonly conditions: WebhookConditions;
  readonly asking: AskingParts;
}

const kinds = {
  admit: { resource: 'mutatingwebhookconfigurations', owner: 'admit' },
  validating: { resource: 'validatingwebhookconfigurations', owner: 'validate' },
} as const;

/** @throws Error for a configuration of the plugin that is wrong */
export function webhookParts(
  parts: PluginParts,
  { name, type }: { readonly name: string; readonly type: keyof typeof kinds },
): WebhookParts {
  const { naming, scheme, authorizer, metrics, log, tracing } = parts;
  const { resource, owner } = kinds[type];
  return {
    naming,
    scheme,
    authorizer,
    namespaces: parts.objects('', 'namespaces'),
    source: new WebhookSource(parts, resource),
    conditions: new WebhookConditions(naming, metrics, owner),
    asking: {
      scheme,
      log,
      tracing,
      metrics: webhookMetrics(metrics),
      caller: parts.openWebhookCaller(kubeconfigFileOf(parts.configurationOf(name), naming)),
    },
  };
}

/** Of a WebhookAdmissionConfiguration: who the server is for which webhook. */
function kubeconfigFileOf(document: object | undefined, naming: NamingProfile): string | undefined {
  if (document === undefined) return undefined;
  const root = StrictFields.of(document as JsonObject, {
    kind: 'WebhookAdmissionConfiguration',
    apiVersions: [naming.resolve('apiserver.config.{v}/v1')],
  });
  const file = root.text('kubeConfigFile');
  root.text('staticManifestsDir'); // Whoever reads manifests has checked it.
  root.finish();
  if (file === '') return undefined;
  if (!isAbsolute(file)) throw new Error('kubeConfigFile: must be an absolute path');
  return file;
}
