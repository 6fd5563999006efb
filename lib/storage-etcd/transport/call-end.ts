// How a gRPC call ended: its status out of trailers, or what HTTP/2 says where there are none
// (gRPC over HTTP/2, "Responses" and "Errors"; doc/http-grpc-status-mapping.md).
import { grpcStatus } from '../grpc-status.ts';
import { EtcdError, neverSent } from '../etcd-error.ts';
import type { Head } from './answer-head.ts';
import { http2Code } from '../../http2/frames.ts';

/** undefined: it went well. */
export function errorOfTrailers(trailers: Head): EtcdError | undefined {
  const code = Number(trailers.get('grpc-status'));
  if (code === grpcStatus.OK) return undefined;
  const known = Number.isInteger(code) && code > 0 ? code : grpcStatus.UNKNOWN;
  return new EtcdError(known, decoded(trailers.get('grpc-message') ?? ''));
}

/** Of an answer by something that does not speak gRPC, such as a proxy; undefined: it does. */
export function errorOfHeaders(headers: Head): EtcdError | undefined {
  const httpStatus = Number(headers.get(':status') ?? 0);
  if (httpStatus === 200 || headers.has('grpc-status')) return undefined;
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
  if (resetCode === http2Code.refusedStream) {
    return new EtcdError(grpcStatus.UNAVAILABLE, neverSent, options);
  }
  const code = isLost ? undefined : codesOfReset.get(resetCode);
  if (code !== undefined) {
    const words = `Received RST_STREAM with code ${String(resetCode)}`;
    return new EtcdError(code, words, options);
  }
  return new EtcdError(grpcStatus.UNAVAILABLE, cause?.message ?? 'Connection dropped', options);
}

const codesOfReset: ReadonlyMap<number, number> = new Map<number, number>([
  [http2Code.cancel, grpcStatus.CANCELLED],
  [http2Code.enhanceYourCalm, grpcStatus.RESOURCE_EXHAUSTED],
  [http2Code.inadequateSecurity, grpcStatus.PERMISSION_DENIED],
  [http2Code.protocolError, grpcStatus.INTERNAL],
  [http2Code.internalError, grpcStatus.INTERNAL],
  [http2Code.flowControlError, grpcStatus.INTERNAL],
  [http2Code.frameSizeError, grpcStatus.INTERNAL],
  [http2Code.compressionError, grpcStatus.INTERNAL],
]);

/** Words with percent-encoded bytes; as they are where they are not well encoded. */
function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
