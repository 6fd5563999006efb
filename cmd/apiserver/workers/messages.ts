// What the parent and a worker may ask of each other; everything but a socket is JSON.
import type { Socket } from 'node:net';
import type { MaybePromise } from '../../../lib/base/maybe-promise.ts';

/** One question: its body, and a socket that goes with it. */
export type Answering<Body, Answer> = (
  body: Body,
  socket: Socket | undefined,
) => MaybePromise<Answer>;

/** What workers ask of their parent. */
export interface ParentAnswers {
  /** To be given connections; the answer is the port. */
  readonly listen: Answering<{ readonly bindAddress: string; readonly port: number }, number>;
  /** Answered when no connection is on its way any more. */
  readonly unlisten: Answering<null, null>;
  /** So many connections have closed. */
  readonly closed: Answering<number, null>;
  /** The etcd of this server, started once. */
  readonly etcd: Answering<null, LocalEtcdPlace>;
  /** Opens the audit log, once. */
  readonly openAudit: Answering<string, null>;
  /** Lines of the audit log; answered when they are the system's. */
  readonly writeAudit: Answering<string, null>;
  /** Why not every other worker serves; null: they do. */
  readonly others: Answering<null, string | null>;
  /** The text of all workers at this path. */
  readonly metrics: Answering<string, string>;
  /** It serves, at this URL. */
  readonly ready: Answering<string, null>;
  /** Why it ends, in words for the user. */
  readonly failed: Answering<string, null>;
  /** Its texts of metrics by path, before it ends. */
  readonly last: Answering<Readonly<Record<string, string>>, null>;
}

/** What the parent asks of workers. */
export interface WorkerAnswers {
  /** To take a connection; it has it when it answers. */
  readonly connection: Answering<null, null>;
  /** Why it does not serve; null: it does. */
  readonly state: Answering<null, string | null>;
  /** Its own text at this path. */
  readonly metrics: Answering<string, string>;
  readonly stop: Answering<StopReason, null>;
}

/** `replaced`: another worker has its place. A name of a signal: the server ends. */
export type StopReason = 'replaced' | 'SIGTERM';

export interface LocalEtcdPlace {
  readonly url: string;
  readonly etcdctlPath: string | null;
}
