// MutatingAdmissionWebhook: webhooks that may change what is written, one after the other, each on
// what the one before has left; and those that want it once more where others changed it after them.
import { setMember } from '../../api/json-value.ts';
import { apiVersionOf } from '../../api/type-info.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { limits } from '../../base/limits.ts';
import { internalError } from '../../base/status.ts';
import { afterLongTurn } from '../../base/turn.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { inVersion, VersionedObjects } from '../match/versioned-objects.ts';
import type { Versioned } from '../match/versioned-objects.ts';
import type { AdmissionPlugin, AdmissionRequest, MutatingPass } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { patchedObject, readPatch } from './patched-object.ts';
import { Reinvocation } from './reinvocation.ts';
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
      mutated(own, { request, object, signal, round: pass.index, kept: keptOf(plugin, pass) }),
    beforeDelete(request, signal) {
      const kept = new Reinvocation();
      const answer = mutated(own, { request, object: undefined, signal, round: 0, kept });
      return answer instanceof Promise ? answer.then(() => undefined) : undefined;
    },
  };
  return plugin;
}

function keptOf(plugin: AdmissionPlugin, { kept }: MutatingPass): Reinvocation {
  const known = kept.get(plugin);
  if (known instanceof Reinvocation) return known;
  const made = new Reinvocation();
  kept.set(plugin, made);
  return made;
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
  const state = new MutatedObject(request, object, signal);
  for (let next = await first; next !== undefined; next = await selection.next(state.current)) {
    const versioned = await state.as(next);
    const holds = await selection.hold(next, versioned);
    // Who was not asked in the first pass is not asked in the second.
    if (!holds || (round === 1 && !kept.isWanted(next.webhook))) continue;
    const isChanged = await askOne(parts, pass, state, next, versioned);
    if (isChanged) kept.changed();
    kept.wasAsked(next.webhook);
    await afterLongTurn(limits.writeTurnMsMax);
  }
  const isChanged = state.isChanged;
  await state.putInPlace(parts);
  if (round === 0 && object !== undefined) kept.passEnded(object);
  return isChanged;
}

/** @returns whether the webhook changed the object */
async function askOne(
  parts: WebhookParts,
  { request, signal, round }: Pass,
  state: MutatedObject,
  { webhook, place, as }: SelectedWebhook,
  versioned: Versioned,
): Promise<boolean> {
  const at = `round_${String(round)}_index_${String(place)}`;
  const { naming, scheme } = parts;
  let isChanged = false;
  const named = { configuration: webhook.configuration.name, webhook: webhook.name };
  const take = (answer: ReviewAnswer): void => {
    const operations = readPatch(webhook.name, answer, versioned.type);
    if (operations.length === 0) return;
    if (versioned.object === undefined) {
      throw internalError(
        `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, ` +
          'which is not supported for this operation',
      );
    }
    const { kind, type, object } = versioned;
    const patched = patchedObject({ object, kind, type }, operations, scheme.defaults);
    isChanged = patched.isChanged;
    if (isChanged) state.replace(patched.object);
    const patch = JSON.parse(answer.patch) as unknown;
    request.annotate(
      naming.resolve(`patch.webhook.admission.{v}/${at}`),
      JSON.stringify({ ...named, patch, patchType: 'JSONPatch' }),
      'Request',
    );
  };
  try {
    const failedOpenKey = naming.resolve(`failed-open.mutation.webhook.admission.{v}/${at}`);
    const reviewed = state.texts.of(request, as, versioned);
    await ask(
      parts.asking,
      { webhook, request, type: 'admit', reviewed, failedOpenKey, take },
      signal,
    );
  } finally {
    const key = naming.resolve(`mutation.webhook.admission.{v}/${at}`);
    request.annotate(key, JSON.stringify({ ...named, mutated: isChanged }));
  }
  return isChanged;
}

/**
 * The object of a pass as webhooks change it: one object, converted from the version of one webhook
 * to that of the next, and back in the end.
 */
class MutatedObject {
  readonly #request: AdmissionRequest;
  readonly #signal: AbortSignal;
  readonly #given: ApiObject | undefined;
  readonly #old: VersionedObjects;
  /** In the version in which it was changed last. */
  #current: Readonly<ApiObject> | undefined;
  /** Questions about it as it is now. */
  texts = new ReviewedTexts();
  isChanged = false;

  constructor(request: AdmissionRequest, given: ApiObject | undefined, signal: AbortSignal) {
    this.#request = request;
    this.#signal = signal;
    this.#given = given;
    this.#current = given;
    this.#old = new VersionedObjects(request, undefined, signal);
  }

  get current(): Readonly<ApiObject> | undefined {
    return this.#current;
  }

  async as({ as }: SelectedWebhook): Promise<Versioned> {
    const { kind, type, oldObject } = await this.#old.as(as);
    const apiVersion = apiVersionOf(kind);
    const object = await inVersion(this.#request, this.#current, kind, apiVersion, this.#signal);
    if (this.isChanged) this.#current = object;
    return { kind, type, object, oldObject };
  }

  replace(object: Readonly<ApiObject>): void {
    this.#current = object;
    this.isChanged = true;
    this.texts = new ReviewedTexts();
  }

  /** What webhooks made is from now on what the given object holds. */
  async putInPlace({ scheme }: Pick<WebhookParts, 'scheme'>): Promise<void> {
    const given = this.#given;
    if (!this.isChanged || given === undefined) return;
    const { form } = this.#request;
    const apiVersion = apiVersionOf(form.kind);
    const made = await inVersion(this.#request, this.#current, form.kind, apiVersion, this.#signal);
    if (made === undefined) return;
    for (const name of Object.keys(given)) delete given[name];
    for (const [name, value] of Object.entries(made)) {
      if (value !== undefined) setMember(given, name, value);
    }
    scheme.defaults.apply(given, form.type);
  }
}
