// One client of the run: sends single requests and records what it asked and what came back. Lost,
// late and failed answers of writes are recorded as unknown; requests that were never sent are not.

import type { ApiAnswer, ApiClient, ApiRequest } from './api-client.ts';
import { TransportError } from './api-client.ts';
import type { Fields, ObjectState, ReadAt, WriteOutcome, WriteRecord } from './history.ts';
import { WRITE_FIELD } from './history.ts';
import { asObject, isOfRun, revisionIn, stateIn, type Recorder } from './recorder.ts';
import type { Subject } from './subject.ts';

export interface ClientOptions {
  readonly client: number;
  readonly servers: readonly ApiClient[];
  readonly namespace: string;
  readonly subject: Subject;
  /** Size of objects beside the data of the run. */
  readonly paddingBytes: number;
  readonly recorder: Recorder;
  readonly requestTimeoutMs: number;
}

export interface WriteOptions {
  readonly verb: WriteRecord['verb'];
  readonly name: string;
  readonly server: number;
  readonly expected: WriteRecord['expected'];
  /** Beside the write's own id: the other fields of a whole object, or of a patch. */
  readonly fields: Fields;
}

export class Operations {
  readonly #options: ClientOptions;
  readonly #path: string;
  /** What this client saw last of each object. */
  readonly #seen = new Map<string, ObjectState>();
  #writeCount = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { namespace, subject } = options;
    this.#path = `${subject.apiPaths[0] ?? ''}/namespaces/${namespace}/${subject.resource}`;
  }

  lastSeen(name: string): ObjectState | undefined {
    return this.#seen.get(name);
  }

  /** Returns whether the server could be reached. */
  async write({ verb, name, server, expected, fields }: WriteOptions): Promise<WriteOutcome> {
    const { client, recorder } = this.#options;
    this.#writeCount += 1;
    const id = `${client}-${this.#writeCount}`;
    const sent: Fields = verb === 'delete' ? {} : { ...fields, [WRITE_FIELD]: id };
    const request = this.#writeRequest(verb, name, sent, expected);
    const invokedAt = recorder.now();
    let outcome: WriteOutcome;
    try {
      outcome = writeOutcome(verb, await this.#send(server, request));
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      const why = error.message;
      outcome = error.isUnsent ? { kind: 'refused', why: 'other' } : { kind: 'unknown', why };
    }
    const returnedAt = recorder.now();
    const times = { invokedAt, returnedAt };
    recorder.writes.push({ verb, id, client, server, name, expected, sent, ...times, outcome });
    if (outcome.kind === 'applied' && outcome.state !== undefined) this.#remember(outcome.state);
    return outcome;
  }

  async get(name: string, server: number, at: ReadAt): Promise<boolean> {
    const { client, recorder } = this.#options;
    const query = readQuery(at);
    const invokedAt = recorder.now();
    const answer = await this.#read(server, `/${name}?${query.toString()}`);
    const returnedAt = recorder.now();
    const base = { client, server, name, at, invokedAt, returnedAt };
    if (answer?.status === 200) {
      const state = stateIn(asObject(answer.body));
      this.#remember(state);
      recorder.gets.push({ ...base, outcome: { kind: 'found', state } });
    } else if (answer?.status === 404) {
      this.#seen.delete(name);
      recorder.gets.push({ ...base, outcome: { kind: 'absent' } });
    } else {
      const why = answer === undefined ? 'no answer' : String(answer.status);
      recorder.gets.push({ ...base, outcome: { kind: 'failed', why } });
    }
    return answer !== undefined;
  }

  /** One list; each further page may come from another server. Undefined: no answer at all. */
  async list(
    at: ReadAt,
    options: { limit?: number; serverOfPage: () => number },
  ): Promise<number | undefined> {
    const { client, recorder } = this.#options;
    const { limit, serverOfPage } = options;
    const pages = [];
    let token = '';
    do {
      const query = token === '' ? readQuery(at) : new URLSearchParams({ continue: token });
      if (limit !== undefined) query.set('limit', String(limit));
      if (token === '' && limit !== undefined && at.mode === 'notOlderThan') {
        query.set('resourceVersionMatch', 'NotOlderThan');
      }
      const server = serverOfPage();
      const invokedAt = recorder.now();
      const answer = await this.#read(server, `?${query.toString()}`);
      const returnedAt = recorder.now();
      const base = { client, at, ...(limit === undefined ? {} : { limit }), pages };
      if (answer?.status !== 200) {
        const why = answer === undefined ? 'no answer' : String(answer.status);
        const isGone = answer?.status === 410;
        const ending = isGone
          ? ({ kind: 'gone', at: returnedAt } as const)
          : ({ kind: 'failed', why } as const);
        recorder.lists.push({ ...base, ending });
        return undefined;
      }
      const body = asObject(answer.body);
      const items = (body.items ?? []).filter(isOfRun).map(stateIn);
      pages.push({ server, invokedAt, returnedAt, revision: revisionIn(body), items });
      items.forEach((state) => {
        this.#remember(state);
      });
      token = body.metadata?.continue ?? '';
      if (token === '') recorder.lists.push({ ...base, ending: { kind: 'complete' } });
    } while (token !== '');
    const revision = pages[0]?.revision;
    if (revision !== undefined) recorder.saw(revision);
    return revision;
  }

  #remember(state: ObjectState): void {
    this.#seen.set(state.name, state);
    this.#options.recorder.saw(state.revision);
  }

  async #read(server: number, query: string): Promise<ApiAnswer | undefined> {
    try {
      return await this.#send(server, { method: 'GET', path: `${this.#path}${query}` });
    } catch (error) {
      if (error instanceof TransportError) return undefined;
      throw error;
    }
  }

  #send(server: number, request: ApiRequest): Promise<ApiAnswer> {
    const { servers, requestTimeoutMs } = this.#options;
    const target = servers[server];
    if (target === undefined) throw new Error(`no server ${server}`);
    return target.request(request, AbortSignal.timeout(requestTimeoutMs));
  }

  #writeRequest(
    verb: WriteRecord['verb'],
    name: string,
    data: Fields,
    { revision, uid }: WriteRecord['expected'],
  ): ApiRequest {
    const resourceVersion = revision === undefined ? {} : { resourceVersion: String(revision) };
    const compared = { ...resourceVersion, ...(uid === undefined ? {} : { uid }) };
    const path = `${this.#path}/${name}`;
    const { subject } = this.#options;
    const body = subject.object({ name, ...compared }, data, this.#options);
    switch (verb) {
      case 'create':
        return { method: 'POST', path: this.#path, body };
      case 'update':
        return { method: 'PUT', path, body };
      case 'patch': {
        const contentType = 'application/merge-patch+json';
        return { method: 'PATCH', path, body: subject.patch(compared, data), contentType };
      }
      case 'delete': {
        const options = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: compared };
        return { method: 'DELETE', path, body: options };
      }
    }
  }
}

export function readQuery(at: ReadAt): URLSearchParams {
  const query = new URLSearchParams();
  if (at.mode === 'any') query.set('resourceVersion', '0');
  if (at.mode === 'notOlderThan' || at.mode === 'exact') {
    query.set('resourceVersion', String(at.revision));
  }
  if (at.mode === 'exact') query.set('resourceVersionMatch', 'Exact');
  return query;
}

function writeOutcome(verb: WriteRecord['verb'], { status, body }: ApiAnswer): WriteOutcome {
  const object = asObject(body);
  if (status >= 200 && status < 300) {
    if (verb !== 'delete') return { kind: 'applied', state: stateIn(object) };
    const uid = object.details?.uid ?? object.metadata?.uid;
    return { kind: 'applied', ...(uid === undefined ? {} : { uid }) };
  }
  if (status >= 500 || status === 408) return { kind: 'unknown', why: String(status) };
  if (status === 404) return { kind: 'refused', why: 'absent' };
  if (status !== 409) return { kind: 'refused', why: 'other' };
  return { kind: 'refused', why: object.reason === 'AlreadyExists' ? 'exists' : 'conflict' };
}
