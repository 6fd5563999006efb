// Contract of outgoing HTTPS calls. A target is one service (a webhook) with its identity and its
// kept connections. It follows no redirect, and never logs or trusts what it gets.
import type { AnswerSlots } from './answer-slots.ts';

export interface Target {
  /** Makes one call. @throws CallError, or `call.signal.reason` when that fires first */
  call<T>(call: Call<T>): Promise<Answer<T>>;
  /** Keeps no connection any more. Calls under way, and late ones, end as they would have. */
  close(): void;
}

export interface Call<T> {
  /** `POST` when not given. */
  readonly method?: string;
  /** Path with query, from the root of the host; not given: the path of the target. */
  readonly path?: string;
  /** Behind the path of the target: `timeout=30s`; for calls that give no path. */
  readonly query?: string;
  /** Names in lower case. JSON is sent and accepted unless these say otherwise. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Makes of the answer's body what the caller needs; when it throws, the answer is bad. */
  readonly decode: (body: Uint8Array) => T;
  readonly signal: AbortSignal;
  /** For everything together, repetitions too; not given: `limits.clientCallTimeoutMs`. */
  readonly timeoutMs?: number;
  /** Not given: `limits.clientAnswerBytesMax`. */
  readonly answerBytesMax?: number;
  /**
   * How often the call is repeated when its target cannot be reached, or cuts the connection before
   * it answers. Only for calls that may arrive twice; not given: 0.
   */
  readonly retryCount?: number;
  /**
   * The call is repeated once, over a new connection, when a kept one was closed before any byte of
   * the answer came: the other side closes kept connections when it likes.
   */
  readonly repeatsOnNew?: boolean;
  /** What bounds the memory of this answer and others; not given: nothing does. */
  readonly slots?: AnswerSlots;
}

export interface Answer<T> {
  /** 200 to 299. */
  readonly status: number;
  readonly body: T;
}
