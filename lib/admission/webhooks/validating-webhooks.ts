// ValidatingAdmissionWebhook: webhooks that may refuse what would be stored, all asked at once; of
// several refusals the first in their order is answered.
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { VersionedObjects } from '../match/versioned-objects.ts';
import type { Versioned } from '../match/versioned-objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { ReviewedTexts } from './reviewed-texts.ts';
import { ask } from './webhook-asking.ts';
import { webhookParts } from './webhook-parts.ts';
import type { WebhookParts } from './webhook-parts.ts';
import { WebhookSelection } from './webhook-selection.ts';
import type { SelectedWebhook } from './webhook-selection.ts';

export function validatingWebhooks(parts: PluginParts): AdmissionPlugin {
  const own = webhookParts(parts, { name: 'ValidatingAdmissionWebhook', type: 'validating' });
  return {
    name: 'ValidatingAdmissionWebhook',
    isConfigured: true,
    sideEffects: false,
    handles: (request) => own.source.candidates(request).length > 0,
    validate(request, object, signal) {
      const selection = new WebhookSelection(own, request, signal);
      const first = selection.next(object);
      if (first === undefined) return undefined;
      return validated(own, { request, object, signal }, selection, first);
    },
  };
}

interface Judged {
  readonly request: AdmissionRequest;
  readonly object: Readonly<ApiObject> | undefined;
  readonly signal: AbortSignal;
}

async function validated(
  parts: WebhookParts,
  judged: Judged,
  selection: WebhookSelection,
  first: MaybePromise<SelectedWebhook | undefined>,
): Promise<void> {
  const { request, object, signal } = judged;
  const objects = new VersionedObjects(request, object, signal);
  const called: { readonly selected: SelectedWebhook; readonly versioned: Versioned }[] = [];
  for (let next = await first; next !== undefined; next = await selection.next(object)) {
    const versioned = await objects.as(next.as);
    if (await selection.hold(next, versioned)) called.push({ selected: next, versioned });
  }
  signal.throwIfAborted();
  const texts = new ReviewedTexts();
  const prefix = parts.naming.resolve(
    'failed-open.validating.webhook.admission.{v}/round_0_index_',
  );
  const asked = called.map(({ selected: { webhook, as }, versioned }, index) => {
    const reviewed = texts.of(request, as, versioned);
    const failedOpenKey = `${prefix}${String(index)}`;
    const question = { webhook, request, type: 'validating', reviewed, failedOpenKey } as const;
    return ask(parts.asking, question, signal);
  });
  for (const outcome of await Promise.allSettled(asked)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}
