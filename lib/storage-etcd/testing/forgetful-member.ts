// A member that stands before a real one: it passes calls on, but for transactions of which it says
// that it has given them up, whether or not it has passed them on.
import { Client, credentials, Server, ServerCredentials, status } from '@grpc/grpc-js';
import type { sendUnaryData, ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js';

const asItIs = (bytes: Buffer): Buffer => bytes;
const methods = [
  '/etcdserverpb.KV/Range',
  '/etcdserverpb.KV/Txn',
  '/etcdserverpb.Maintenance/Status',
];
const lostWithLeader = 'etcdserver: request timed out, possibly due to previous leader failure';

/** `dropped`: not passed on. `hidden`: passed on, and then said to be lost. */
export type Forgetting = 'dropped' | 'hidden';

export class ForgetfulMember {
  /** What becomes of the next transactions. */
  readonly forgets: Forgetting[] = [];
  transactionCount = 0;
  readonly #server = new Server();
  readonly #target: Client;
  #port = 0;

  private constructor(target: string) {
    this.#target = new Client(new URL(target).host, credentials.createInsecure());
    const service = Object.fromEntries(
      methods.map((path) => [
        path,
        {
          ...{ path, requestStream: false, responseStream: false },
          ...{ requestSerialize: asItIs, requestDeserialize: asItIs },
          ...{ responseSerialize: asItIs, responseDeserialize: asItIs },
        },
      ]),
    );
    const answers: UntypedServiceImplementation = Object.fromEntries(
      methods.map((path) => [
        path,
        (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) =>
          this.#take(path, call.request, answer),
      ]),
    );
    this.#server.addService(service, answers);
  }

  /** @param target `http://host:port` of the real one */
  static async listen(target: string): Promise<ForgetfulMember> {
    const member = new ForgetfulMember(target);
    member.#port = await new Promise<number>((resolve, reject) => {
      const insecure = ServerCredentials.createInsecure();
      member.#server.bindAsync('127.0.0.1:0', insecure, (error, port) =>
        error === null ? resolve(port) : reject(error),
      );
    });
    return member;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.#port)}`;
  }

  close(): void {
    this.#target.close();
    this.#server.forceShutdown();
  }

  #take(path: string, request: Buffer, answer: sendUnaryData<Buffer>): void {
    const forgets = path.endsWith('/Txn') ? this.#next() : undefined;
    const lost = (): void => answer({ code: status.UNAVAILABLE, details: lostWithLeader });
    if (forgets === 'dropped') {
      lost();
      return;
    }
    this.#target.makeUnaryRequest(path, asItIs, asItIs, request, (error, reply) => {
      if (forgets === 'hidden') lost();
      else answer(error, reply);
    });
  }

  #next(): Forgetting | undefined {
    this.transactionCount += 1;
    return this.forgets.shift();
  }
}
