// The codec contract: bytes to API objects and back, and framing around already-encoded objects.
import type { JsonObject, JsonValue, TypeInfo } from '../api/type-info.ts';

/**
 * An unknown or duplicate field: reported as a warning or, in strict mode, as an error
 * (specification 1).
 */
export interface FieldProblem {
  readonly kind: 'unknown' | 'duplicate';
  /** `spec.containers[0].nam`, Kubernetes' text form of a path. */
  readonly path: string;
  /** What the path is in, where that is not the object. */
  readonly within?: 'json patch';
}

/** An object in memory: fields in any order, values as `JsonValue`. */
export interface ApiObject extends JsonObject {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
}

/** metadata of an object; times are RFC 3339 strings. */
export interface ObjectMeta extends JsonObject {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string | null;
  deletionGracePeriodSeconds?: number;
  labels?: { [key: string]: string };
  annotations?: { [key: string]: string };
  finalizers?: string[];
  managedFields?: JsonValue[];
}

export interface Decoded {
  readonly object: ApiObject;
  readonly problems: readonly FieldProblem[];
}

/** What a body says that it holds; either may be empty or absent. */
export type NamedKind = Readonly<Pick<ApiObject, 'kind' | 'apiVersion'>>;

export interface Codec {
  /**
   * `application/json`, `application/yaml`, … without parameters, in the naming profile's spelling.
   */
  readonly mediaType: string;
  /**
   * Reads one object: unknown fields are dropped and reported, zero rules applied, fields in schema
   * order, kind and apiVersion as written (may be absent). Where an encoding names the kind ahead
   * of the object, `mustBe` gets it before anything of the object is read.
   * @throws StatusError 400 with the decoder's reason; a wrong JSON type names the field. What
   * `mustBe` throws.
   */
  decode(body: Uint8Array, type: TypeInfo, mustBe?: (named: NamedKind) => void): Decoded;
  /** Canonical bytes: schema order, omit and zero rules. `kind` and `apiVersion` first. */
  encode(object: Readonly<ApiObject>, type: TypeInfo): Uint8Array;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
