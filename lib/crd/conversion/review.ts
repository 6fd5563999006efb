// The review that a conversion webhook is asked with, and what is read of its answer. Objects of an
// answer stay text until each is looked at by itself: no turn is longer than one object takes.
import { isObject } from '../../api/json-value.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { Yielder } from '../../base/yielder.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { decodeText, stringify } from '../../codec/json.ts';
import type { ConversionWebhook } from './conversion-webhook.ts';
import { BadReview, splitReview } from './split-review.ts';

export interface ReviewRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly Readonly<ApiObject>[];
}

export interface Review {
  /** '' where it is none. */
  readonly kind: string;
  readonly apiVersion: string;
  readonly response:
    | {
        readonly uid: string;
        /** Of its result. */
        readonly status: string;
        readonly message: string;
        /** JSON, not parsed yet. */
        readonly objects: readonly string[];
      }
    | undefined;
}

export async function reviewBody(
  { reviewGroup, reviewVersion }: Pick<ConversionWebhook, 'reviewGroup' | 'reviewVersion'>,
  { uid, desiredAPIVersion, objects }: ReviewRequest,
): Promise<Uint8Array> {
  const review = {
    kind: 'ConversionReview',
    apiVersion: `${reviewGroup}/${reviewVersion}`,
    request: { uid, desiredAPIVersion, objects: [] },
  };
  const pieces = [Buffer.from(JSON.stringify(review).slice(0, -'[]}}'.length))];
  const yielder = new Yielder();
  for (const [index, object] of objects.entries()) {
    pieces.push(Buffer.from(`${index === 0 ? '[' : ','}${stringify(object)}`));
    if (yielder.isDue()) await yielder.yield();
  }
  return Buffer.concat([...pieces, Buffer.from(']}}')]);
}

/** @throws BadReview, StatusError 400 that says what is wrong with the JSON */
export async function readReview(body: Uint8Array): Promise<Review> {
  const { value, objects } = await splitReview(decodeText(body));
  if (!isObject(value)) throw new BadReview('the answer is not a JSON object');
  const { response } = value;
  if (!isObject(response)) {
    return {
      kind: textAt(value, 'kind'),
      apiVersion: textAt(value, 'apiVersion'),
      response: undefined,
    };
  }
  const result = isObject(response['result']) ? response['result'] : {};
  const converted = response['convertedObjects'] ?? [];
  if (!Array.isArray(converted)) {
    throw new BadReview('response.convertedObjects of the answer is not a list');
  }
  return {
    kind: textAt(value, 'kind'),
    apiVersion: textAt(value, 'apiVersion'),
    response: {
      uid: textAt(response, 'uid'),
      status: textAt(result, 'status'),
      message: textAt(result, 'message'),
      objects: converted.map((index) => objects[Number(index)] ?? ''),
    },
  };
}

const textAt = (object: JsonObject, name: string): string => {
  const value: JsonValue | undefined = object[name];
  return typeof value === 'string' ? value : '';
};
