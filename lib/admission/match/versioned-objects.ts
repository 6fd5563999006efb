// The object and the stored object of one request in the versions that rules have matched: each
// version is made once, when it is first asked for, and making it may wait.
import { apiVersionOf } from '../../api/type-info.ts';
import type { GroupVersionKind, ResourceInfo, TypeInfo } from '../../api/type-info.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { MatchedAs } from './rules.ts';

/** Objects of one request, both in the version `kind`, with kind and apiVersion. */
export interface Versioned {
  readonly kind: GroupVersionKind;
  /** What writes and reads the objects. */
  readonly type: TypeInfo;
  readonly object: Readonly<ApiObject> | undefined;
  readonly oldObject: Readonly<ApiObject> | undefined;
}

/** The version that a way matched, and the type of objects in it. */
export function versionOf(
  request: Pick<AdmissionRequest, 'resource' | 'kind' | 'form'>,
  as: MatchedAs | undefined,
): Pick<Versioned, 'kind' | 'type'> {
  const kind = as?.kind ?? request.kind;
  const resource = as?.resource ?? request.resource;
  return { kind, type: (isKindOf(resource, kind) ? resource : request.form).type };
}

const isKindOf = ({ kind: own }: ResourceInfo, kind: GroupVersionKind): boolean =>
  own.kind === kind.kind && own.group === kind.group && own.version === kind.version;

export class VersionedObjects {
  readonly #request: AdmissionRequest;
  readonly #object: Readonly<ApiObject> | undefined;
  readonly #signal: AbortSignal;
  readonly #known = new Map<string, MaybePromise<Versioned>>();

  /** `object` is in the form of the request, and does not change any more. */
  constructor(
    request: AdmissionRequest,
    object: Readonly<ApiObject> | undefined,
    signal: AbortSignal,
  ) {
    this.#request = request;
    this.#object = object;
    this.#signal = signal;
  }

  /**
   * Not to be changed: objects that are in the version already are shown themselves.
   * @throws StatusError of the conversion, also to those who ask for the version later
   */
  as(matched: MatchedAs | undefined): MaybePromise<Versioned> {
    const version = versionOf(this.#request, matched);
    const apiVersion = apiVersionOf(version.kind);
    let made = this.#known.get(apiVersion);
    if (made === undefined) {
      made = this.#make(version, apiVersion);
      this.#known.set(apiVersion, made);
    }
    return made;
  }

  #make(version: Pick<Versioned, 'kind' | 'type'>, apiVersion: string): MaybePromise<Versioned> {
    const convert = (
      object: Readonly<ApiObject> | undefined,
    ): MaybePromise<Readonly<ApiObject> | undefined> =>
      inVersion(this.#request, object, version.kind, apiVersion, this.#signal);
    return whenThere(convert(this.#object), (object) =>
      whenThere(convert(this.#request.old), (oldObject) => ({ ...version, object, oldObject })),
    );
  }
}

/** The object itself where it is in the version. @throws StatusError of the conversion. */
export function inVersion<T extends Readonly<ApiObject> | undefined>(
  request: AdmissionRequest,
  object: T,
  kind: GroupVersionKind,
  apiVersion: string,
  signal: AbortSignal,
): MaybePromise<T | ApiObject> {
  if (object === undefined) return object;
  if (object.apiVersion === apiVersion && object.kind === kind.kind) return object;
  // What is not converted says what it is nevertheless.
  const named = { ...object, kind: kind.kind, apiVersion: object.apiVersion ?? apiVersion };
  return named.apiVersion === apiVersion ? named : request.convert(named, apiVersion, signal);
}
