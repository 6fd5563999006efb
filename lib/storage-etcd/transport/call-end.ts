// How a gRPC call ended: its status out of trailers, or what HTTP/2 says where there are none
// (gRPC over HTTP/2, "Responses" and "Errors"; doc/http-grpc-status-mapping.md).
import { constants } from 'node:http2';
import type { IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import { status as grpcStatus } from '@grpc/grpc-js';
import { EtcdError, neverSent } from '../etcd-error.ts';

export type Headers = IncomingHttpHeaders & IncomingHttpStatusHeader;

/** undefined: it went well. */
export function errorOfTrailers(trailers: Headers): EtcdError | undefined {
  const code = Number(trailers['grpc-status']);
  if (code === grpcStatus.OK) return undefined;
  const known = Number.isInteger(code) && code > 0 ? code : grpcStatus.UNKNOWN;
  return new EtcdError(known, decoded(String(trailers['grpc-message'] ?? '')));
}

/** Of an answer by something that does not speak gRPC, such as a proxy; undefined: it does. */
export function errorOfHeaders(headers: Headers): EtcdError | undefined {
  const httpStatus = headers[':status'] ?? 0;
  if (httpStatus === 200 || headers['grpc-status'] !== undefined) return undefined;
  const code = codesOfHttp.get(httpStatus) ?? grpcStatus.UNKNOWN;
  return new EtcdError(code, `Received HTTP status code ${String(httpStatus)}`);
}

const codesOfHttp: ReadonlyMap<number, number> = new Map([
  [400, grpcStatus.INTERNAL],
  [401, grpcStatus.UNAUTHENTICATED],
  [403, grpcStatus.PERMISSION_DENIED],
  [404, grpcStatus.UNIMPLEMENTED],
  [429, grpcStatus.UNAVAILABLE],
  [502, grpcStatus.UNAVAILABLE],
  [503, grpcStatus.UNAVAILABLE],
  [504, grpcStatus.UNAVAILABLE],
]);

export interface Reset {
  readonly code: number;
  /** What was said of it, if anything. */
  readonly cause: Error | undefined;
  /** The whole connection is gone. */
  readonly isLost: boolean;
}

/** Of a stream that is closed without a status. */
export function errorOfReset({ code: resetCode, cause, isLost }: Reset): EtcdError {
  const options = cause === undefined ? {} : { cause };
  if (resetCode === constants.NGHTTP2_REFUSED_STREAM) {
    return new EtcdError(grpcStatus.UNAVAILABLE, neverSent, options);
  }
  const code = isLost ? undefined : codesOfReset.get(resetCode);
  if (code !== undefined) {
    const words = `Received RST_STREAM with code ${String(resetCode)}`;
    return new EtcdError(code, words, options);
  }
  return new EtcdError(grpcStatus.UNAVAILABLE, cause?.message ?? 'Connection dropped', options);
}

const codesOfReset: ReadonlyMap<number, number> = new Map([
  [constants.NGHTTP2_CANCEL, grpcStatus.CANCELLED],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, grpcStatus.RESOURCE_EXHAUSTED],
  [constants.NGHTTP2_INADEQUATE_SECURITY, grpcStatus.PERMISSION_DENIED],
  [constants.NGHTTP2_PROTOCOL_ERROR, grpcStatus.INTERNAL],
  [constants.NGHTTP2_INTERNAL_ERROR, grpcStatus.INTERNAL],
  [constants.NGHTTP2_FLOW_CONTROL_ERROR, grpcStatus.INTERNAL],
  [constants.NGHTTP2_FRAME_SIZE_ERROR, grpcStatus.INTERNAL],
  [constants.NGHTTP2_COMPRESSION_ERROR, grpcStatus.INTERNAL],
]);

/** Words with percent-encoded bytes; as they are where they are not well encoded. */
function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
