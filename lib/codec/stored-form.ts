// The form of an object in etcd: one line of header (JSON), then the object's canonical JSON without resourceVersion.
// The header names the schema generation and byte offsets, so that a replica of the same release serves the bytes as they are.
import type { ResourceInfo } from '../api/type-info.ts';
import type { ApiObject } from './codec.ts';

/** Offsets count bytes of the object's JSON (the payload after the header line). */
export interface StoredHeader {
  /** Form of the payload; `json` is the only one written so far. */
  readonly media: 'json';
  /** Schema generation (fingerprint of types and defaults) that wrote the payload. */
  readonly schema: string;
  /** Where `"resourceVersion":"…",` belongs: always followed by another member of metadata. */
  readonly versionAt: number;
  /** Where the members after kind and apiVersion begin (the `"metadata"` key): entries of typed lists start there. */
  readonly bodyAt: number;
  /** Start and end of the labels object, or absent without labels. */
  readonly labels?: readonly [number, number];
  /** Values of selectable fields other than metadata.name and metadata.namespace; unset ones are left out. */
  readonly fields?: Readonly<Record<string, string>>;
}

export interface OpenedStored {
  readonly header: StoredHeader;
  /** A view into the given bytes: copy what you keep. */
  readonly payload: Uint8Array;
}

/** Bytes to put under the object's key. `metadata.resourceVersion` of the object is ignored. */
export type EncodeStored = (object: Readonly<ApiObject>, resource: ResourceInfo) => Uint8Array;
/** undefined: not written by this product (plain JSON, Protobuf, another product): decode it by its own form. */
export type OpenStored = (value: Uint8Array) => OpenedStored | undefined;
/** The payload with `resourceVersion` set: one allocation, ready to send. */
export type WithResourceVersion = (opened: OpenedStored, revision: number) => Uint8Array;
