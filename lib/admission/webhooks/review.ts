// AdmissionReview: what a webhook is sent, and what its answer says. Bytes in and out; whether an
// answer may be ignored is not decided here.
import { flagAt, recordAt, textAt, textsAt } from '../../api/json-access.ts';
import type { Scheme } from '../../api/scheme.ts';
import type { JsonObject, TypeInfo } from '../../api/type-info.ts';
import { apiVersionOf } from '../../api/type-info.ts';
import { ofProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { encodeText, jsonCodec, stringify } from '../../codec/json.ts';
import { requestRecord } from '../match/request-record.ts';
import type { MatchedAs } from '../match/rules.ts';
import type { Versioned } from '../match/versioned-objects.ts';
import type { AdmissionRequest } from '../plugin.ts';

export type ReviewVersion = 'v1' | 'v1beta1';

/** All of the question but what is new in each call: its uid. */
export function reviewedRequest(
  request: AdmissionRequest,
  as: MatchedAs | undefined,
  { object, oldObject, type }: Omit<Versioned, 'kind'>,
): string {
  const members = stringify(requestRecord(request, as)).slice(1, -1);
  const text = (one: Readonly<ApiObject> | undefined): string =>
    one === undefined ? 'null' : encodeText(one, type);
  return `${members},"object":${text(object)},"oldObject":${text(oldObject)}`;
}

export function reviewBody(
  version: ReviewVersion,
  uid: string,
  reviewed: string,
  scheme: Pick<Scheme, 'profile'>,
): Uint8Array {
  const head = headsOf(scheme.profile)[version];
  return Buffer.from(`${head},"request":{"uid":${JSON.stringify(uid)},${reviewed}}}`);
}

/** What each review begins with. */
const headsOf = ofProfile((profile): Readonly<Record<ReviewVersion, string>> => {
  const head = (version: ReviewVersion): string => {
    const apiVersion = apiVersionOf(groupVersion(version, { profile }));
    return JSON.stringify({ kind: 'AdmissionReview', apiVersion }).slice(0, -1);
  };
  return { v1: head('v1'), v1beta1: head('v1beta1') };
});

const groupVersion = (
  version: ReviewVersion,
  { profile }: Pick<Scheme, 'profile'>,
): { readonly group: string; readonly version: string } => ({
  group: profile.resolve('admission.{v}'),
  version,
});

/** What a webhook answered. */
export interface ReviewAnswer {
  readonly isAllowed: boolean;
  /** Why not, as a Status; undefined: it says nothing. */
  readonly status: Readonly<JsonObject> | undefined;
  /** Text of a JSON patch; '': none. */
  readonly patch: string;
  /** Of the patch. */
  readonly patchType: string;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<JsonObject>;
}

/** The answer is not one to the question. */
export class InvalidAnswer extends Error {}

interface Asked {
  readonly version: ReviewVersion;
  readonly uid: string;
  /** It may answer with a patch. */
  readonly isMutating: boolean;
}

/**
 * @throws StatusError where the bytes cannot be read as a review, InvalidAnswer where it is another
 * one than was asked for or breaks the protocol
 */
export function readAnswer(
  body: Uint8Array,
  asked: Asked,
  scheme: Pick<Scheme, 'profile' | 'type'>,
): ReviewAnswer {
  const review = jsonCodec.decode(body, reviewType(asked.version, scheme)).object;
  const response = recordAt(review, 'response');
  if (response === undefined) throw new InvalidAnswer('webhook response was absent');
  if (asked.version === 'v1') mustAnswer(review, textAt(response, 'uid'), asked, scheme);
  return {
    isAllowed: flagAt(response, 'allowed'),
    status: recordAt(response, 'status'),
    ...patchOf(response, asked),
    warnings: textsAt(response, 'warnings'),
    auditAnnotations: recordAt(response, 'auditAnnotations') ?? {},
  };
}

const reviewType = (version: ReviewVersion, scheme: Pick<Scheme, 'type'>): TypeInfo =>
  scheme.type(`admission/${version}.AdmissionReview`);

/** What the older version never checked. */
function mustAnswer(
  { kind = '', apiVersion = '' }: Readonly<ApiObject>,
  given: string,
  { uid, version }: Asked,
  scheme: Pick<Scheme, 'profile'>,
): void {
  if (given !== uid) {
    const [wanted, got] = [uid, given].map((text) => JSON.stringify(text));
    throw new InvalidAnswer(`expected response.uid=${String(wanted)}, got ${String(got)}`);
  }
  const expected = apiVersionOf(groupVersion(version, scheme));
  if (kind === 'AdmissionReview' && apiVersion === expected) return;
  throw new InvalidAnswer(
    `expected webhook response of ${expected}, Kind=AdmissionReview, ` +
      `got ${apiVersion}, Kind=${kind}`,
  );
}

function patchOf(
  response: Readonly<JsonObject>,
  { version, isMutating }: Asked,
): Pick<ReviewAnswer, 'patch' | 'patchType'> {
  const encoded = textAt(response, 'patch');
  const hasType = typeof response['patchType'] === 'string';
  const patchType = textAt(response, 'patchType');
  if (version === 'v1beta1') {
    const patch = isMutating ? decoded(encoded) : '';
    return { patch, patchType: patch === '' ? '' : 'JSONPatch' };
  }
  if (!isMutating) {
    if (encoded !== '') throw new InvalidAnswer('validating webhook may not return response.patch');
    if (hasType) throw new InvalidAnswer('validating webhook may not return response.patchType');
  }
  if (encoded !== '' && !hasType) {
    throw new InvalidAnswer('webhook returned response.patch but not response.patchType');
  }
  if (encoded === '' && hasType) {
    throw new InvalidAnswer('webhook returned response.patchType but not response.patch');
  }
  if (hasType && patchType === '') {
    throw new InvalidAnswer('webhook returned invalid response.patchType of ""');
  }
  return { patch: decoded(encoded), patchType };
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString();
