// Credentials of a test: what it names, and nothing else.
import type { ClientConnection, Credentials } from '../authenticator.ts';

export function testCredentials(given: Partial<Credentials> = {}): Credentials {
  return { token: undefined, connection: undefined, rawHeaders: [], audiences: [], ...given };
}

export function testConnection(given: Partial<ClientConnection> = {}): ClientConnection {
  return { remoteAddress: '192.0.2.1', certificate: undefined, intermediates: [], ...given };
}
