// The configuration of the image policy webhook, the ImageReview that it is sent, and its answer.
import { asRecord, recordAt, textAt, valueAt } from '../api/json-access.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { StrictFields } from '../codec/strict-fields.ts';

export interface ImagePolicy {
  readonly kubeconfigFile: string;
  /** How long an answer is kept; 0: not at all. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  /** Before the second attempt; 0: at once. */
  readonly retryFirstMs: number;
  /** Whether pods are admitted that it cannot be asked about. */
  readonly isAllowedByDefault: boolean;
}

const millisPerSecond = 1_000;

/**
 * Of a document without kind and version: 0 stands for what is usual, -1 for none.
 * @throws Error
 */
export function readImagePolicy(document: JsonObject | undefined): ImagePolicy {
  if (document === undefined) throw new Error('there is no configuration of its webhook');
  const root = StrictFields.unnamed(document);
  const policy = root.objectOrEmpty('imagePolicy');
  const kubeconfigFile = policy.text('kubeConfigFile');
  const time = (name: string, usual: number, most: number): number => {
    const value = policy.integer(name) ?? 0;
    if (value === 0) return usual;
    if (value === -1) return 0;
    if (value >= 1 && value <= most) return value;
    throw new Error(`${policy.path(name)}: ${String(value)} is not between 1 and ${String(most)}`);
  };
  const { imageReviewTtlSecondsMax: ttlMax, imageReviewBackoffMsMax: backoffMax } = limits;
  const read: ImagePolicy = {
    kubeconfigFile,
    allowTtlMs: time('allowTTL', 300, ttlMax) * millisPerSecond,
    denyTtlMs: time('denyTTL', 30, ttlMax) * millisPerSecond,
    retryFirstMs: time('retryBackoff', limits.reviewRetryFirstMs, backoffMax),
    isAllowedByDefault: policy.flag('defaultAllow') ?? false,
  };
  root.finish();
  if (kubeconfigFile === '') throw new Error(`${policy.path('kubeConfigFile')}: must be stated`);
  return read;
}

export interface ImageAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  /** Without their prefix. */
  readonly auditAnnotations: readonly (readonly [string, string])[];
}

export const imageReviewKind = 'ImageReview';

/** @throws Error for what is no review of this version */
export function readImageAnswer(body: Uint8Array, apiVersion: string): ImageAnswer {
  const review = asRecord(JSON.parse(Buffer.from(body).toString()) as JsonValue);
  if (review === undefined) throw new Error('no object');
  // What says nothing of itself is taken for what was asked for.
  const isNamed =
    textAt({ kind: imageReviewKind, ...review }, 'kind') === imageReviewKind &&
    textAt({ apiVersion, ...review }, 'apiVersion') === apiVersion;
  if (!isNamed) throw new Error('another kind or version');
  const status = recordAt(review, 'status');
  const [allowed, reason] = [valueAt(status, 'allowed'), valueAt(status, 'reason')];
  if (allowed !== undefined && typeof allowed !== 'boolean') throw new Error('allowed: no flag');
  if (reason !== undefined && typeof reason !== 'string') throw new Error('reason: no text');
  const annotations = Object.entries(recordAt(status, 'auditAnnotations') ?? {});
  return {
    allowed: allowed === true,
    reason: reason ?? '',
    auditAnnotations: annotations.map(([key, value]) => {
      if (typeof value !== 'string') throw new Error('auditAnnotations: no text');
      return [key, value] as const;
    }),
  };
}
