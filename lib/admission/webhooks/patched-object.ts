// What the patch of a webhook makes of an object in the version that the webhook was shown.
import { applyJsonPatch, parseJsonPatch } from '../../apply/json-patch.ts';
import type { JsonPatchOperation } from '../../apply/json-patch.ts';
import { jsonEqual } from '../../api/json-value.ts';
import { RawJson, sortedText } from '../../api/raw-json.ts';
import { apiVersionOf } from '../../api/type-info.ts';
import type { JsonValue, TypeInfo } from '../../api/type-info.ts';
import { badRequest, internalError, StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { decodeJson, parseData, rawData } from '../../codec/json.ts';
import { canonicalObject, readObject } from '../../codec/normalise.ts';
import { holdsRaw, keptText } from '../../codec/raw-fields.ts';
import type { Versioned } from '../match/versioned-objects.ts';
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

/**
 * Read leniently: fields that the kind does not know are dropped. undefined: nothing is changed.
 * @throws StatusError 500 where there is no object, the patch does not fit, or its result is no
 * object of the kind
 */
export function patchedObject(
  webhook: string,
  { object, kind, type }: Versioned,
  operations: readonly JsonPatchOperation[],
): ApiObject | undefined {
  if (object === undefined) {
    throw internalError(
      `admission webhook "${webhook}" attempted to modify the object, ` +
        'which is not supported for this operation',
    );
  }
  const isRaw = holdsRaw(type);
  const canonical = canonicalObject(object, type);
  try {
    const document: JsonValue = isRaw ? RawJson.of(keptText(canonical)) : canonical;
    const result = applyJsonPatch(document, operations);
    const made = (
      isRaw ? decodeJson(sortedText(result), type) : readObject(result, type, canonical)
    ).object;
    const is = `${made.apiVersion ?? ''}, Kind=${made.kind ?? ''}`;
    const was = `${apiVersionOf(kind)}, Kind=${kind.kind}`;
    if (is !== was) throw badRequest(`the patch makes ${is} of ${was}`);
    return jsonEqual(made, canonical) ? undefined : made;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw internalError(`admission webhook "${webhook}": ${error.message}`);
  }
}
