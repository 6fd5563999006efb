// etcd's methods as typed encode/decode pairs over proto/etcd.proto, which is parsed once at load.
// 64-bit revisions become safe integers here, once; identifiers stay exact (Long). Bytes are views.
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';

/** An exact unsigned 64-bit identifier; opaque, only passed back or printed. */
export interface Identifier {
  toString(): string;
}

export interface ResponseHeader {
  readonly cluster_id: Identifier;
  readonly member_id: Identifier;
  readonly revision: number;
}
export interface KeyValue {
  readonly key: string;
  readonly value: Uint8Array;
  readonly create_revision: number;
  readonly mod_revision: number;
  readonly version: number;
}
/** `type` 0: put, 1: delete. */
export interface EtcdEvent {
  readonly type: number;
  readonly kv: KeyValue;
  readonly prev_kv: KeyValue | null;
}
export interface RangeRequest {
  readonly key: string;
  readonly range_end?: string;
  readonly limit?: number;
  readonly revision?: number;
  readonly serializable?: boolean;
  readonly keys_only?: boolean;
  readonly count_only?: boolean;
}
export interface RangeResponse {
  readonly header: ResponseHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  readonly count: number;
}
export interface PutRequest {
  readonly key: string;
  readonly value: Uint8Array;
  readonly lease?: Identifier;
}
export type RequestOp =
  | { readonly request_range: RangeRequest }
  | { readonly request_put: PutRequest }
  | { readonly request_delete_range: { readonly key: string } };
export interface ResponseOp {
  readonly response_range: RangeResponse | null;
}
export interface Compare {
  readonly result: 0;
  readonly target: (typeof compareTarget)[keyof typeof compareTarget];
  readonly key: string;
  readonly version?: number;
  readonly mod_revision?: number;
}
export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}
export interface TxnResponse {
  readonly header: ResponseHeader;
  readonly succeeded: boolean;
  readonly responses: readonly ResponseOp[];
}
export interface WatchCreateRequest {
  readonly key: string;
  readonly range_end: string;
  readonly start_revision: number;
  readonly progress_notify: boolean;
  readonly prev_kv: boolean;
  readonly fragment: boolean;
}
export type WatchRequest =
  | { readonly create_request: WatchCreateRequest }
  | { readonly progress_request: Readonly<Record<string, never>> };
export interface WatchResponse {
  readonly header: ResponseHeader;
  readonly watch_id: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: number;
  readonly cancel_reason: string;
  readonly fragment: boolean;
  readonly events: readonly EtcdEvent[];
}
interface WithHeader {
  readonly header: ResponseHeader;
}

export const compareTarget = { version: 0, mod: 2 } as const;
export const eventTypeDelete = 1;
/** The watch id of an answer to a progress request: it belongs to the stream, not to one watch. */
export const streamWatchId = -1;

export interface Method<Request, Response> {
  readonly path: string;
  /** Name for metrics and messages. */
  readonly name: string;
  readonly encode: (request: Request) => Buffer;
  readonly decode: (bytes: Buffer) => Response;
}

/** A reader whose int64 fields are safe integers, and which drops fields that it does not know. */
class RevisionReader extends protobuf.BufferReader {
  constructor(bytes: Buffer) {
    super(bytes);
    this.discardUnknown = true;
  }
  override int64(): protobuf.Long {
    const value = super.int64();
    const number = value.high * 0x1_0000_0000 + (value.low >>> 0);
    if (!Number.isSafeInteger(number)) throw new Error(`etcd: revision out of range: ${number}`);
    // The decoder stores whatever is returned; the interfaces above declare these fields as
    // numbers.
    return number as unknown as protobuf.Long;
  }
}

const file = new URL('./proto/etcd.proto', import.meta.url);
const { root } = protobuf.parse(readFileSync(file, 'utf8'), { keepCase: true });
const declared = root.lookup('etcdserverpb') as protobuf.Namespace;
for (const type of declared.nestedArray) {
  if (type instanceof protobuf.Type) plainDefaults(type);
}

/**
 * Absent fields read as the prototype's default, which would be a Long, or a plain array for bytes.
 */
function plainDefaults(type: protobuf.Type): void {
  const prototype = type.ctor.prototype as unknown as Record<string, unknown>;
  for (const field of type.fieldsArray) {
    if (field.type === 'int64') prototype[field.name] = 0;
    if (field.type === 'bytes') prototype[field.name] = new Uint8Array(0);
  }
}

function method<Request, Response>(
  path: string,
  requestType: string,
  responseType: string,
): Method<Request, Response> {
  const request = root.lookupType(`etcdserverpb.${requestType}`);
  const response = root.lookupType(`etcdserverpb.${responseType}`);
  return {
    path: `/etcdserverpb.${path}`,
    name: path,
    encode: (message) => request.encode(message as Record<string, unknown>).finish() as Buffer,
    decode: (bytes) => response.decode(new RevisionReader(bytes)) as unknown as Response,
  };
}

export const rangeMethod = method<RangeRequest, RangeResponse>(
  'KV/Range',
  'RangeRequest',
  'RangeResponse',
);
export const txnMethod = method<TxnRequest, TxnResponse>('KV/Txn', 'TxnRequest', 'TxnResponse');
export const compactMethod = method<{ readonly revision: number }, WithHeader>(
  'KV/Compact',
  'CompactionRequest',
  'CompactionResponse',
);
export const watchMethod = method<WatchRequest, WatchResponse>(
  'Watch/Watch',
  'WatchRequest',
  'WatchResponse',
);
export const leaseGrantMethod = method<
  { readonly TTL: number },
  WithHeader & { readonly ID: Identifier; readonly TTL: number }
>('Lease/LeaseGrant', 'LeaseGrantRequest', 'LeaseGrantResponse');
/** `Status` lives in the Maintenance service. */
export const statusMethod = method<
  Readonly<Record<string, never>>,
  WithHeader & { readonly version: string; readonly db_size: number }
>('Maintenance/Status', 'StatusRequest', 'StatusResponse');
