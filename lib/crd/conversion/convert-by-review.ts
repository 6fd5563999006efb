// One call of a conversion webhook: objects to a review, the answer back to objects, each checked
// to be the same object in the version that was asked for. Texts are those that clients know.
import { randomUUID } from 'node:crypto';
import { apiVersionOf } from '../../api/type-info.ts';
import { StatusError } from '../../base/status.ts';
import { Yielder } from '../../base/yielder.ts';
import { CallError } from '../../client/call-error.ts';
import { SettingsError } from '../../client/settings-error.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { conversionError } from './conversion-error.ts';
import { callFailureText } from '../../client/call-failure-text.ts';
import type { ConversionFailure, ConversionMetrics } from './conversion-metrics.ts';
import type { ConversionWebhook } from './conversion-webhook.ts';
import { convertedObject, InvalidObject } from './converted-object.ts';
import type { ConvertedVersion } from './converted-object.ts';
import { readReview, reviewBody } from './review.ts';
import type { Review } from './review.ts';
import { BadReview } from './split-review.ts';

export interface ReviewedObjects {
  /** One or more; none is in the version of `to`. */
  readonly objects: readonly Readonly<ApiObject>[];
  readonly to: ConvertedVersion;
  /** Of the first in the list that is converted; undefined: one object by itself. */
  readonly listIndex: number | undefined;
}

/** What went wrong, and where. */
class Failed extends Error {
  readonly at: ConversionFailure;

  constructor(at: ConversionFailure, text: string) {
    super(text);
    this.at = at;
  }
}

/** @throws StatusError 500 that says why. */
export async function convertByReview(
  given: ReviewedObjects,
  webhook: ConversionWebhook,
  { name, metrics }: { readonly name: string; readonly metrics: ConversionMetrics },
): Promise<readonly ApiObject[]> {
  const { objects, to, listIndex } = given;
  const from = objects[0]?.apiVersion ?? '';
  const startMs = webhook.clock.monotonicMs();
  let failure: ConversionFailure | undefined;
  try {
    return await convert(given, webhook);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    failure = error.at;
    const kind = `${to.kind.kind}${listIndex === undefined ? '' : 'List'}`;
    throw conversionError(`conversion webhook for ${from}, Kind=${kind} ${error.message}`);
  } finally {
    metrics.ended({
      name,
      fromVersion: from.slice(from.indexOf('/') + 1),
      toVersion: to.kind.version,
      seconds: (webhook.clock.monotonicMs() - startMs) / 1_000,
      failure,
    });
  }
}

async function convert(
  { objects, to, listIndex }: ReviewedObjects,
  webhook: ConversionWebhook,
): Promise<readonly ApiObject[]> {
  const uid = randomUUID();
  const review = await ask(webhook, { uid, desiredAPIVersion: apiVersionOf(to.kind), objects });
  const texts = answered(review, uid, webhook);
  if (texts.length !== objects.length) {
    const counts = `${String(texts.length)} objects, expected ${String(objects.length)}`;
    throw new Failed('partial_response', `returned ${counts}`);
  }
  const yielder = new Yielder();
  const converted: ApiObject[] = [];
  for (const [index, original] of objects.entries()) {
    try {
      converted.push(convertedObject(texts[index] ?? '', { original, to }));
    } catch (error) {
      if (!(error instanceof InvalidObject)) throw error;
      const at = listIndex === undefined ? undefined : listIndex + index;
      throw new Failed('invalid_converted_object', error.textAt(at));
    }
    if (yielder.isDue()) await yielder.yield();
  }
  return converted;
}

/** @throws Failed where there is no answer, or none that can be read. */
async function ask(
  webhook: ConversionWebhook,
  request: Parameters<typeof reviewBody>[1],
): Promise<Review> {
  try {
    return await readReview(await webhook.ask(await reviewBody(webhook, request)));
  } catch (error) {
    throw new Failed('call', `failed: ${textOf(error)}`);
  }
}

function textOf(error: unknown): string {
  if (error instanceof CallError) return callFailureText(error);
  const isKnown =
    error instanceof BadReview || error instanceof SettingsError || error instanceof StatusError;
  if (isKnown) return error.message;
  throw error;
}

/** The texts of the converted objects. @throws Failed */
function answered(
  { kind, apiVersion, response }: Review,
  uid: string,
  { reviewGroup, reviewVersion }: ConversionWebhook,
): readonly string[] {
  const failed = (text: string): Failed => new Failed('malformed_response', `failed: ${text}`);
  const isV1 = reviewVersion === 'v1';
  const expected = `${reviewGroup}/${reviewVersion}`;
  if (isV1 && (kind !== 'ConversionReview' || apiVersion !== expected)) {
    const got = `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`;
    throw failed(`expected webhook response of ${expected}, Kind=ConversionReview, got ${got}`);
  }
  if (response === undefined) throw failed('no response provided');
  if (isV1 && response.uid !== uid) {
    throw failed(
      `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid)}`,
    );
  }
  const { status, message } = response;
  if (status !== 'Success') {
    throw failed(message || `response.result.status was '${status}', not 'Success'`);
  }
  return response.objects;
}
