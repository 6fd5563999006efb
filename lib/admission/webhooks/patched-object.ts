// What the patch of a webhook makes of an object in the version that the webhook was shown.
import { applyJsonPatch, parseJsonPatch } from '../../apply/json-patch.ts';
import type { JsonPatchOperation } from '../../apply/json-patch.ts';
import type { Defaults } from '../../api/defaults.ts';
import { jsonEqual } from '../../api/json-value.ts';
import { RawJson, sortedText } from '../../api/raw-json.ts';
import { apiVersionOf } from '../../api/type-info.ts';
import type { GroupVersionKind, JsonValue, TypeInfo } from '../../api/type-info.ts';
import { internalError, StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { decodeJson, parseData, rawData } from '../../codec/json.ts';
import { canonicalObject, readObject } from '../../codec/normalise.ts';
import { holdsRaw, keptText } from '../../codec/raw-fields.ts';
import { WebhookFailed } from './webhook-asking.ts';

/** The operations of an answer; none: it changes nothing. @throws WebhookFailed */
export function readPatch(
  webhook: string,
  { patch, patchType }: { readonly patch: string; readonly patchType: string },
  type: TypeInfo,
): readonly JsonPatchOperation[] {
  if (patch === '') return [];
  let operations: readonly JsonPatchOperation[];
  try {
    operations = parseJsonPatch(Buffer.from(patch), holdsRaw(type) ? rawData : parseData);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const cause = `received undecodable patch in webhook response: ${error.message}`;
    throw new WebhookFailed(webhook, cause, 503);
  }
  if (operations.length > 0 && patchType !== 'JSONPatch') {
    throw new WebhookFailed(webhook, `unsupported patch type ${JSON.stringify(patchType)}`, 400);
  }
  return operations;
}

/** What a patch works on. */
export interface PatchedFrom {
  readonly object: Readonly<ApiObject>;
  readonly kind: GroupVersionKind;
  readonly type: TypeInfo;
}

/**
 * Read leniently: fields that the kind does not know are dropped; and completed. The given object
 * is not changed.
 * @throws StatusError 500 where the patch does not fit, or its result is no object of the kind
 */
export function patchedObject(
  { object, kind, type }: PatchedFrom,
  operations: readonly JsonPatchOperation[],
  defaults: Pick<Defaults, 'apply'>,
): { readonly object: ApiObject; readonly isChanged: boolean } {
  const isRaw = holdsRaw(type);
  const canonical = canonicalObject(object, type);
  try {
    const document: JsonValue = isRaw ? RawJson.of(keptText(canonical)) : canonical;
    const result = applyJsonPatch(document, operations);
    const read = isRaw ? decodeJson(sortedText(result), type) : readObject(result, type);
    const made = read.object;
    const apiVersion = apiVersionOf(kind);
    if (made.kind !== kind.kind || made.apiVersion !== apiVersion) {
      throw internalError(
        `a webhook made ${made.apiVersion ?? ''} ${made.kind ?? ''} of the object`,
      );
    }
    const isChanged = !jsonEqual(made, canonical);
    if (isChanged) defaults.apply(made, type);
    return { object: made, isChanged };
  } catch (error) {
    if (!(error instanceof StatusError) || error.code === 500) throw error;
    throw internalError(error.message);
  }
}
