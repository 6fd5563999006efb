import { expect, test } from '@jest/globals';
import { dialFailure, exchangeFailure } from './socket-failure.ts';

const failed = (fields: object): Error => Object.assign(new Error('what it says'), fields);

test.each<[claim: string, error: Error, isConnected: boolean, failure: object | undefined]>([
  [
    'a system out of files',
    failed({ code: 'EMFILE', syscall: 'connect' }),
    false,
    { kind: 'unreachable', reason: 'dial tcp [fd00::1]:443: connect: EMFILE' },
  ],
  [
    'no route',
    failed({ code: 'EHOSTUNREACH', syscall: 'connect' }),
    false,
    { kind: 'unreachable', reason: 'dial tcp [fd00::1]:443: connect: no route to host' },
  ],
  [
    'a reset in the handshake',
    failed({ code: 'ECONNRESET' }),
    true,
    { kind: 'closed', begun: false, reason: 'connection reset by peer in the TLS handshake' },
  ],
  [
    'a certificate with a problem of its own',
    failed({ code: 'CA_MD_TOO_WEAK' }),
    true,
    { kind: 'tls', reason: 'tls: failed to verify certificate: what it says' },
  ],
  [
    'an alert',
    failed({ code: 'ERR_SSL_X', reason: 'alert x' }),
    true,
    { kind: 'tls', reason: 'remote error: tls: alert x' },
  ],
  ['a bug', failed({}), true, undefined],
  ['a bug with a code', failed({ code: 'ERR_INVALID_ARG_TYPE' }), false, undefined],
])('dialing: %s', (_claim, error, isConnected, failure) => {
  expect(dialFailure(error, { ip: 'fd00::1', port: 443, isConnected })).toEqual(failure);
});

test.each<[claim: string, error: Error, failure: object | undefined]>([
  [
    'an error of the system',
    failed({ code: 'ENOBUFS', syscall: 'write' }),
    { kind: 'closed', begun: true, reason: 'ENOBUFS' },
  ],
  [
    'an alert',
    failed({ code: 'ERR_SSL_Y' }),
    { kind: 'tls', reason: 'remote error: tls: ERR_SSL_Y' },
  ],
  ['a bug', failed({ code: 'UND_ERR_INVALID_ARG' }), undefined],
])('an exchange: %s', (_claim, error, failure) => {
  expect(exchangeFailure(error, true)).toEqual(failure);
});
