// MutatingAdmissionWebhook: webhooks that may change what is written, one after the other, each on
// what the one before has left; and once more those that want it, where others changed it since.
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { limits } from '../../base/limits.ts';
import { afterLongTurn } from '../../base/turn.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { VersionedObjects } from '../match/versioned-objects.ts';
import { MutatedObject } from '../match/mutated-object.ts';
import type { Versioned } from '../match/versioned-objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { patchedObject, readPatch } from './patched-object.ts';
import { Reinvocation } from '../reinvocation.ts';
import type { ReviewAnswer } from './review.ts';
import { ReviewedTexts } from './reviewed-texts.ts';
import { ask } from './webhook-asking.ts';
import { webhookParts } from './webhook-parts.ts';
import type { WebhookParts } from './webhook-parts.ts';
import { WebhookSelection } from './webhook-selection.ts';
import type { SelectedWebhook } from './webhook-selection.ts';

export function mutatingWebhooks(parts: PluginParts): AdmissionPlugin {
  const own = webhookParts(parts, { name: 'MutatingAdmissionWebhook', type: 'admit' });
  const plugin: AdmissionPlugin = {
    name: 'MutatingAdmissionWebhook',
    isConfigured: true,
    sideEffects: false,
    handles: (request) => own.source.candidates(request).length > 0,
    mutate: (request, object, signal, pass) =>
      mutated(own, {
        request,
        object,
        signal,
        round: pass.index,
        kept: Reinvocation.of(plugin, pass),
      }),
    beforeDelete(request, signal) {
      const kept = new Reinvocation();
      const answer = mutated(own, { request, object: undefined, signal, round: 0, kept });
      return answer instanceof Promise ? answer.then(() => undefined) : undefined;
    },
  };
  return plugin;
}

interface Pass {
  readonly request: AdmissionRequest;
  /** In the form of the request; what webhooks make of it replaces what it holds. */
  readonly object: ApiObject | undefined;
  readonly signal: AbortSignal;
  readonly round: 0 | 1;
  readonly kept: Reinvocation;
}

function mutated(parts: WebhookParts, pass: Pass): MaybePromise<boolean> {
  const { request, object, signal, round, kept } = pass;
  if (round === 1 && object !== undefined) kept.passBegins(object);
  const selection = new WebhookSelection(parts, request, signal);
  const first = selection.next(object);
  if (first === undefined) {
    if (round === 0 && object !== undefined) kept.passEnded(object);
    return false;
  }
  return mutatedFrom(parts, pass, selection, first);
}

async function mutatedFrom(
  parts: WebhookParts,
  pass: Pass,
  selection: WebhookSelection,
  first: MaybePromise<SelectedWebhook | undefined>,
): Promise<boolean> {
  const { request, object, signal, round, kept } = pass;
  const { defaults } = parts.scheme;
  const state =
    object === undefined
      ? new VersionedObjects(request, undefined, signal)
      : new MutatedObject(request, object, defaults, signal);
  const current = (): Readonly<ApiObject> | undefined =>
    state instanceof MutatedObject ? state.state.object : undefined;
  let isAnyChanged = false;
  let texts = new ReviewedTexts();
  for (let next = await first; next !== undefined; next = await selection.next(current())) {
    const versioned = await state.as(next.as);
    const holds = await selection.hold(next, versioned);
    // Who was not asked in the first pass is not asked in the second.
    if (!holds || (round === 1 && !kept.isWanted(next.webhook.key))) continue;
    const changed = await askOne(parts, pass, next, { versioned, texts });
    if (
      changed !== undefined &&
      state instanceof MutatedObject &&
      state.replace(changed, versioned)
    ) {
      isAnyChanged = true;
      texts = new ReviewedTexts();
      kept.changed();
    }
    if (next.webhook.isReinvoked) kept.ran(next.webhook.key);
    await afterLongTurn(limits.writeTurnMsMax);
  }
  if (state instanceof MutatedObject) await state.putBack();
  if (round === 0 && object !== undefined) kept.passEnded(object);
  return isAnyChanged;
}

interface Shown {
  readonly versioned: Versioned;
  /** Of the object as it is now. */
  readonly texts: ReviewedTexts;
}

/** @returns what the webhook makes of the object; undefined: it changes nothing */
async function askOne(
  { naming, asking }: WebhookParts,
  { request, signal, round }: Pass,
  { webhook, place, as }: SelectedWebhook,
  { versioned, texts }: Shown,
): Promise<ApiObject | undefined> {
  const at = `round_${String(round)}_index_${String(place)}`;
  const key = (name: string): string => naming.resolve(`${name}.webhook.admission.{v}/${at}`);
  const named = { configuration: webhook.configuration.name, webhook: webhook.name };
  let changed: ApiObject | undefined;
  const take = (answer: ReviewAnswer): void => {
    const operations = readPatch(webhook.name, answer, versioned.type);
    if (operations.length === 0) return;
    changed = patchedObject(webhook.name, versioned, operations);
    const patch = JSON.parse(answer.patch) as unknown;
    const told = JSON.stringify({ ...named, patch, patchType: 'JSONPatch' });
    request.annotate(key('patch'), told, 'Request');
  };
  const reviewed = texts.of(request, as, versioned);
  const failedOpenKey = key('failed-open.mutation');
  try {
    const question = { webhook, request, type: 'admit', reviewed, failedOpenKey, take } as const;
    await ask(asking, question, signal);
  } finally {
    const mutated = changed !== undefined;
    request.annotate(key('mutation'), JSON.stringify({ ...named, mutated }));
  }
  return changed;
}
