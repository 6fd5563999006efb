// What errors of sockets, of TLS and of the HTTP parser mean for a call, in upstream's words where
// it has some. Errors that are none of these are bugs and pass unchanged.
import { limits } from '../base/limits.ts';
import type { CallFailure } from './call-error.ts';

interface CodedError extends Error {
  readonly code: string;
  /** The call of the system that failed, if one did. */
  readonly syscall?: unknown;
  /** OpenSSL's words. */
  readonly reason?: unknown;
}

const hasCode = (error: unknown): error is CodedError =>
  Error.isError(error) && typeof (error as { code?: unknown }).code === 'string';

const networkReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  EADDRNOTAVAIL: 'cannot assign requested address',
  ETIMEDOUT: 'connection timed out',
  EPIPE: 'broken pipe',
};

const networkReason = ({ code, syscall }: CodedError): string | undefined =>
  networkReasons[code] ?? (syscall === undefined ? undefined : code);

/** A connection that could not be made; `isConnected`: it failed in what it was `doing` then. */
export function dialFailure(
  error: unknown,
  at: {
    readonly ip: string;
    readonly port: number;
    readonly isConnected: boolean;
    readonly doing?: string;
  },
): CallFailure | undefined {
  if (!hasCode(error)) return undefined;
  const network = networkReason(error);
  if (at.isConnected) {
    if (network === undefined) return { kind: 'tls', reason: tlsReason(error) };
    return {
      kind: 'closed',
      begun: false,
      reason: `${network} in ${at.doing ?? 'the TLS handshake'}`,
    };
  }
  if (network === undefined) return undefined;
  const place = placeText(at.ip, at.port);
  return { kind: 'unreachable', reason: `dial tcp ${place}: connect: ${network}` };
}

/** `10.0.0.9:443`, `[::1]:443`. */
export const placeText = (ip: string, port: number): string =>
  `${ip.includes(':') ? `[${ip}]` : ip}:${port}`;

/** A call that failed on a connection; `begun`: part of the answer had come. */
export function exchangeFailure(error: unknown, begun: boolean): CallFailure | undefined {
  if (Error.isError(error) && error.name === 'HTTPParserError') return malformed(error.message);
  if (!hasCode(error)) return undefined;
  const { code, message } = error;
  const network = networkReason(error);
  if (network !== undefined) return { kind: 'closed', begun, reason: network };
  if (code.startsWith('ERR_SSL_')) return { kind: 'tls', reason: tlsReason(error) };
  switch (code) {
    case 'UND_ERR_SOCKET':
      // Also its words for an answer 100, or an upgrade, that nobody asked for.
      return message.startsWith('bad ') ? malformed(message) : closed(begun);
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return malformed('a body that is not as long as it says');
    case 'UND_ERR_HEADERS_OVERFLOW':
      return { kind: 'tooLarge', part: 'header', bytesMax: limits.clientAnswerHeaderBytesMax };
    default:
      return undefined;
  }
}

/** Ended by the other side, without a reason. */
export const closed = (begun: boolean): CallFailure => ({
  kind: 'closed',
  begun,
  reason: begun ? 'unexpected EOF' : 'EOF',
});

const malformed = (why: string): CallFailure => ({
  kind: 'badAnswer',
  reason: `malformed HTTP response: ${why}`,
  excerpt: '',
});

/** Errors of OpenSSL are of the protocol, all others of the check of the certificate. */
function tlsReason(error: CodedError): string {
  const { code, message, reason } = error;
  if (code.startsWith('ERR_SSL_')) {
    return `remote error: tls: ${typeof reason === 'string' ? reason : code}`;
  }
  return `tls: failed to verify certificate: ${message}`;
}
