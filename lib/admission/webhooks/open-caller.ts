// Calls admission webhooks over kept connections, one target for each client configuration.
import { limits } from '../../base/limits.ts';
import { CallError } from '../../client/call-error.ts';
import { openTarget } from '../../client/open-target.ts';
import type { ClientParts } from '../../client/open-target.ts';
import type { Target } from '../../client/target.ts';
import { WebhookCallError } from './caller.ts';
import type { WebhookCall, WebhookCaller } from './caller.ts';

export interface CallerParts {
  readonly calls: ClientParts;
  /** `kubeConfigFile` of the configuration of the plugin: who the server is for which host. */
  readonly kubeconfigFile?: string | undefined;
}

/** @throws SettingsError where the file of identities is of no use */
export function openWebhookCaller({ calls }: CallerParts): WebhookCaller {
  const targets = new Map<string, Promise<Target>>();
  return {
    async call(call: WebhookCall): Promise<Uint8Array> {
      const { webhook, body, signal, leftMs } = call;
      const key = JSON.stringify(webhook.clientConfig);
      let target = targets.get(key);
      if (target === undefined) {
        target = openTarget({ webhook: webhook.clientConfig }, calls);
        targets.set(key, target);
      }
      const ownMs = (webhook.timeoutSeconds ?? limits.clientCallTimeoutMs / 1_000) * 1_000;
      const timeoutMs = Math.min(ownMs, leftMs);
      const query = `timeout=${String(Math.ceil(timeoutMs / 1_000))}s`;
      try {
        const decode = (bytes: Uint8Array): Uint8Array => bytes;
        return (await (await target).call({ body, signal, timeoutMs, query, decode })).body;
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        const kind = error.failure.kind === 'timeout' ? 'timeout' : 'connection';
        throw new WebhookCallError(webhook.name, { kind, cause: error.message }, { cause: error });
      }
    },
    close() {
      for (const target of targets.values()) void target.then((opened) => opened.close());
    },
  };
}
