// May answer 500, where a request must not go on unrecorded. Makes the request's audit events:
// received, answer begun (of what runs long), complete, or ended by a fault of the server.
import type { Auditor } from '../../audit/auditor.ts';
import { eventUser } from '../../audit/auditor.ts';
import type { RequestAudit } from '../../audit/request-audit.ts';
import { abortable } from '../../base/abort.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { StatusError } from '../../base/status.ts';
import type { User } from '../../base/user.ts';
import { RequestEnded } from '../open-request.ts';
import type { Filter, HttpRequest, HttpResponse, Next } from '../request-context.ts';
import { withoutAuthority } from '../request-info.ts';
import { sendNow } from '../respond.ts';
import { sourceAddresses } from '../source-addresses.ts';
import { switchingProtocols } from '../upgrade.ts';
import type { OnRefused } from './authenticate.ts';
import { attributesOf } from './authorize.ts';

/** Comes right after authentication: events name who asks, whomever they act as later. */
export function auditFilter(auditor: Auditor): Filter {
  const audit = (request: HttpRequest, response: HttpResponse, next: Next): MaybePromise<void> => {
    const { context } = request;
    const record = openRecord(auditor, request, context.user);
    if (record === undefined) return next();
    context.audit = record;
    context.auditAnnotations = record.annotations;
    const taken = record.reach('RequestReceived');
    if (typeof taken === 'boolean') return goOn(taken, record, { request, response, next });
    return abortable(taken, context).then((late) =>
      goOn(late, record, { request, response, next }),
    );
  };
  return Object.assign(audit, { closed });

  function goOn(isTaken: boolean, record: RequestAudit, of: Filtered): MaybePromise<void> {
    const { request, response, next } = of;
    if (!isTaken) {
      request.context.audit = undefined;
      auditor.rejected();
      const text = `Internal Server Error: ${JSON.stringify(request.url)}: ${notStored}\n`;
      const head = { status: 500, contentType: 'text/plain; charset=utf-8' };
      sendNow(request, response, head, Buffer.from(text));
      return;
    }
    const stages = new AnswerStages(record, request, response);
    request.context.auditEnd = stages;
    try {
      return next()?.catch((error: unknown) => stages.failed(error));
    } catch (error) {
      return stages.failed(error);
    }
  }
}

/** Whom nobody knows is recorded without a name. */
export function auditRefusedCredentials(auditor: Auditor): OnRefused {
  return async (request, error) => {
    const record = openRecord(auditor, request, undefined);
    record?.answeredStatus(error.toBody());
    await record?.reach('ResponseStarted');
  };
}

interface Filtered {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly next: Next;
}

const notStored = 'failed to store audit event';

/** undefined: nothing of the request is recorded. */
function openRecord(
  auditor: Auditor,
  request: HttpRequest,
  user: User | undefined,
): RequestAudit | undefined {
  const { context } = request;
  const attributes = attributesOf(context);
  const outcome = auditor.outcomeOf(attributes, user);
  if (outcome.level === 'None') return undefined;
  return auditor.open(outcome, attributes, user, {
    auditId: context.auditId,
    requestUri: withoutAuthority(request.url ?? '/'),
    userAgent: request.headers['user-agent'] ?? '',
    sourceIps: sourceAddresses(request),
    receivedAtMs: context.receivedAtMs,
  });
}

const closed = ({ context }: HttpRequest): void => context.auditEnd?.closed();

/** What both versions of HTTP have, whatever they take. */
interface Endable {
  end(...args: unknown[]): unknown;
  writeHead(...args: unknown[]): unknown;
}

/** Watches an answer begin and end. Its end waits until the event of it is written. */
class AnswerStages {
  readonly #record: RequestAudit;
  readonly #request: HttpRequest;
  readonly #response: HttpResponse;
  /** Whether an event tells of the answer's beginning, and has not yet. */
  #willStart: boolean;
  #isComplete = false;

  constructor(record: RequestAudit, request: HttpRequest, response: HttpResponse) {
    const { info, subresource } = request.context;
    this.#record = record;
    this.#request = request;
    this.#response = response;
    this.#willStart = info.verb === 'watch' || subresource?.connect !== undefined;
    if (this.#willStart) this.#watchStart();
    const open = response as Endable;
    const end = open.end.bind(response);
    open.end = (...args) => {
      open.end = end;
      const written = this.#complete(response.statusCode);
      if (typeof written === 'boolean') return end(...args);
      void written.then(() => end(...args));
      return response;
    };
  }

  /** The response is over; where nobody ended it, it was cut. */
  closed(): void {
    const { headersSent, statusCode } = this.#response;
    const hasBegun = headersSent || statusCode === switchingProtocols;
    if (!hasBegun) this.#record.closedEarly();
    void this.#complete(hasBegun ? statusCode : undefined);
  }

  /** What is no answer to a client is a fault of the server. */
  async failed(error: unknown): Promise<never> {
    const isFault = !(error instanceof StatusError) && !(error instanceof RequestEnded);
    if (isFault && !this.#isComplete) {
      this.#isComplete = true;
      this.#record.panicked();
      await this.#record.reach('Panic');
    }
    throw error;
  }

  /** Headers that are written, or a status that ends HTTP on the connection. */
  #watchStart(): void {
    const response = this.#response;
    const open = response as Endable;
    const writeHead = open.writeHead.bind(response);
    open.writeHead = (...args) => {
      open.writeHead = writeHead;
      const answer = writeHead(...args);
      this.#start(response.statusCode);
      return answer;
    };
    if ('stream' in response) return;
    let status = response.statusCode;
    Object.defineProperty(response, 'statusCode', {
      configurable: true,
      enumerable: true,
      get: () => status,
      set: (value: number) => {
        status = value;
        if (value === switchingProtocols) this.#start(value);
      },
    });
  }

  #start(code: number | undefined): void {
    if (!this.#willStart) return;
    this.#willStart = false;
    this.#noteUser();
    void this.#record.reach('ResponseStarted', code);
  }

  #complete(code: number | undefined): MaybePromise<boolean> {
    if (this.#isComplete) return true;
    this.#isComplete = true;
    this.#start(code);
    this.#noteUser();
    const { isStreaming, webhookTrail } = this.#request.context;
    if (!isStreaming) this.#record.took(webhookTrail);
    return this.#record.reach('ResponseComplete', code);
  }

  #noteUser(): void {
    const { user, impersonator, impersonationConstraint } = this.#request.context;
    if (impersonator === undefined) return;
    this.#record.actsAs(eventUser(user), impersonationConstraint);
  }
}
