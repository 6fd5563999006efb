// A group version that another server serves: its requests are handed on as they came, once their
// user is known and may make them. What serves it answers for it whole, discovery included.
import type { Waiter } from '../base/abort.ts';
import type { User } from '../base/user.ts';
import type { ConnectResponse, SentRequest } from './requests.ts';

/** Its body is not read. `context` gives up when the client leaves or the deadline passes. */
export type ProxiedRequest = SentRequest & {
  readonly context: Waiter & { readonly user: User | undefined };
};

export interface ProxyHandler {
  /** Answers the request. @throws StatusError before the first byte of an answer. */
  serve(request: ProxiedRequest, response: ConnectResponse): Promise<void>;
}

export interface ProxyEntry {
  /** Never the core group. */
  readonly group: string;
  readonly version: string;
  readonly proxy: ProxyHandler;
}
