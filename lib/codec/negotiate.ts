// Content negotiation: which representation answers a request, and what a body is. Pure functions
// of headers and offers; group names come from the naming profile. A new encoding enters as one
// more row of the offers.
import type { PatchName } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { notAcceptable, unsupportedMediaType } from '../base/status.ts';
import { parseAccept, parseMediaType } from './media-type.ts';
import type { AcceptedType } from './media-type.ts';

/** A media type that responses can have. */
export interface OfferedMedia {
  readonly mediaType: string;
  /** Whether a watch can be sent in it. */
  readonly streams: boolean;
  /** False: it has no form of Tables. */
  readonly tables?: boolean;
  /** False: it has no form of the objects as they are, only of what shows less of them. */
  readonly whole?: boolean;
}

/** A transform of the answer (Table, metadata alone), asked for by `as`, `g` and `v`. */
export type TransformName =
  'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'APIGroupDiscoveryList';

export interface OfferedTransform {
  readonly as: TransformName;
  readonly group: string;
  readonly version: string;
}

export interface Negotiated {
  readonly mediaType: string;
  /** undefined: the object or list itself. */
  readonly transform: OfferedTransform | undefined;
  /** JSON with line breaks. */
  readonly pretty: boolean;
}

export interface ResponseOffers {
  /** The first one serves clients that accept anything. */
  readonly media: readonly OfferedMedia[];
  readonly transforms: readonly OfferedTransform[];
}

/** Transforms of answers with objects, lists and watches: Table and metadata alone. */
export function resourceTransforms(
  profile: NamingProfile,
  shape: 'object' | 'list' | 'watch',
): readonly OfferedTransform[] {
  const group = profile.metaGroup;
  const partial = shape === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  return [
    { as: 'Table', group, version: 'v1' },
    { as: partial, group, version: 'v1' },
  ];
}

/** Transforms of the discovery roots: the aggregated documents. */
export const discoveryTransforms = (profile: NamingProfile): readonly OfferedTransform[] => [
  { as: 'APIGroupDiscoveryList', group: profile.discoveryGroup, version: 'v2' },
];

/**
 * The best offer for an Accept header; absent or empty means anything. `pretty`: what people read
 * is asked for otherwise.
 * @throws StatusError 406 that names what is offered.
 */
export function negotiateResponse(
  accept: string | undefined,
  offers: ResponseOffers,
  pretty = false,
): Negotiated {
  const [first] = offers.media;
  if (accept === undefined || accept.trim() === '') {
    if (first === undefined) throw notAcceptable([]);
    return { mediaType: first.mediaType, transform: undefined, pretty };
  }
  const accepted = parseAccept(accept);
  for (const entry of accepted) {
    if (entry.quality === 0) break; // Best first: only refusals follow.
    const media = offers.media.find(
      ({ mediaType }) => matches(entry, mediaType) && !isRefused(mediaType, accepted),
    );
    const transform = media === undefined ? 'refused' : transformOf(entry, offers.transforms);
    if (media === undefined || transform === 'refused') continue;
    if (transform === undefined ? media.whole === false : isTableless(transform, media)) continue;
    return {
      mediaType: media.mediaType,
      transform,
      pretty: pretty || asksForPretty(entry),
    };
  }
  const shown = offers.media.filter(({ whole }) => whole !== false);
  throw notAcceptable(shown.map(({ mediaType }) => mediaType));
}

const isTableless = ({ as }: OfferedTransform, { tables }: OfferedMedia): boolean =>
  as === 'Table' && tables === false;

/** As `negotiateResponse`, among the media types that can stream: an event has no line breaks. */
export function negotiateStream(accept: string | undefined, offers: ResponseOffers): Negotiated {
  const media = offers.media.filter(({ streams }) => streams);
  return { ...negotiateResponse(accept, { ...offers, media }), pretty: false };
}

/**
 * How errors of a request are answered: never fails.
 * A transform that cannot be had does not matter here, errors are always Status objects.
 */
export function negotiateError(
  accept: string | undefined,
  media: readonly OfferedMedia[],
  pretty: boolean,
): Negotiated {
  for (const entry of parseAccept(accept ?? '')) {
    const found = media.find(({ mediaType }) => matches(entry, mediaType));
    if (entry.quality === 0 || found === undefined) continue;
    const isPretty = pretty || asksForPretty(entry);
    return { mediaType: found.mediaType, transform: undefined, pretty: isPretty };
  }
  const mediaType = media[0]?.mediaType ?? 'application/json';
  return { mediaType, transform: undefined, pretty };
}

/**
 * Content-Type of a response: only discovery repeats its form there, as clients tell the two forms
 * of it apart by that.
 */
export function contentTypeOf({ mediaType, transform }: Negotiated): string {
  if (transform?.as !== 'APIGroupDiscoveryList') return mediaType;
  return `${mediaType};g=${transform.group};v=${transform.version};as=${transform.as}`;
}

/**
 * The media type of a request body, one of `offered`; absent means the first of them, as Kubernetes
 * takes JSON.
 * @throws StatusError 415 that names what is offered.
 */
export function negotiateBody(contentType: string | undefined, offered: readonly string[]): string {
  const [first] = offered;
  if ((contentType === undefined || contentType.trim() === '') && first !== undefined) return first;
  return mediaTypeIn(contentType, offered);
}

const patchNames: ReadonlyMap<string, PatchName> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
  ['application/apply-patch+cbor', 'apply'],
]);
/** Whether the body of a PATCH is to be applied, in whichever form. */
export const isApply = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^application\/apply-patch\+/i.test(contentType);
/** Whether a body is YAML, and so may be JSON as well. */
export const isYaml = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^\s*application\/(?:apply-patch\+)?yaml\b/i.test(contentType);
const isCborType = (mediaType: string): boolean => mediaType.endsWith('+cbor');

/** Patches that a server takes. */
export interface PatchOffers {
  readonly names: readonly PatchName[];
  /** Whether apply patches may come in CBOR. */
  readonly cbor: boolean;
}

export interface NegotiatedPatch {
  readonly name: PatchName;
  /** The body is CBOR; otherwise JSON, or for apply patches YAML. */
  readonly cbor: boolean;
}

/** Media types of patches, as clients name them. */
export const patchMediaTypes = ({ names, cbor }: PatchOffers): readonly string[] =>
  [...patchNames]
    .filter(([mediaType, name]) => names.includes(name) && (cbor || !isCborType(mediaType)))
    .map(([mediaType]) => mediaType);

/**
 * Which of the offered patches a body is; a patch always names its type.
 * @throws StatusError 415 that names what is offered.
 */
export function negotiatePatch(
  contentType: string | undefined,
  offers: PatchOffers,
): NegotiatedPatch {
  const mediaType = mediaTypeIn(contentType, patchMediaTypes(offers));
  return { name: patchNames.get(mediaType) ?? 'json', cbor: isCborType(mediaType) };
}

/** Whether a parameter of the media type asks for line breaks. */
const asksForPretty = ({ parameters }: AcceptedType): boolean =>
  ['1', 'true'].includes(parameters.get('pretty') ?? '');

function mediaTypeIn(contentType: string | undefined, offered: readonly string[]): string {
  const media = parseMediaType(contentType ?? '');
  const name = media === undefined ? '' : `${media.type}/${media.subtype}`;
  if (offered.includes(name)) return name;
  throw unsupportedMediaType(offered);
}

function matches({ type, subtype }: AcceptedType, mediaType: string): boolean {
  if (type === '*') return true;
  return subtype === '*' ? mediaType.startsWith(`${type}/`) : mediaType === `${type}/${subtype}`;
}

/** A type can be accepted through a wildcard and refused by name: `application/yaml;q=0, *`/`*`. */
const isRefused = (mediaType: string, accepted: readonly AcceptedType[]): boolean =>
  accepted.some(
    ({ type, subtype, quality }) => quality === 0 && mediaType === `${type}/${subtype}`,
  );

function transformOf(
  { parameters }: AcceptedType,
  offered: readonly OfferedTransform[],
): OfferedTransform | undefined | 'refused' {
  const as = parameters.get('as');
  if (as === undefined) return undefined;
  const found = offered.find(
    (one) =>
      one.as === as && one.group === parameters.get('g') && one.version === parameters.get('v'),
  );
  return found ?? 'refused';
}
