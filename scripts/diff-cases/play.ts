// Plays recorded cases against one server. Base objects are made on first need and only read or
// changed dry; a case that stores makes objects of its own and removes them.
import type { JsonObject, JsonValue } from '../../lib/api/type-info.ts';
import { recordAt, recordsAt, textAt } from '../../lib/api/json-access.ts';
import { isObject } from '../../lib/api/json-value.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { changed } from './changes.ts';
import type { Change } from './changes.ts';
import { normalOutcome, observedOutcome } from './observed.ts';
import type { Answer } from './observed.ts';
import { expectedOutcome } from './recording.ts';
import type { Headers, Outcome, RecordedCase, RecordedKind, Recording } from './recording.ts';

export type Naming = 'svc' | 'kubernetes';

/** Sends one request, which is in the server's names; `content-type` is JSON unless given. */
export type Send = (
  method: string,
  path: string,
  body: string | undefined,
  headers: Headers,
) => Promise<Answer>;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: JsonValue | undefined;
  readonly headers?: Headers | undefined;
}

/** undefined: the server refused it. */
type Stored = JsonObject | undefined;

const namespace = 'd-$RUN';
/** What a case's text has in place of values that must not meet others on a server. */
const valuesOfRun: Readonly<Record<string, string>> = {
  $RUN: 'qcases',
  $IPB4: '10.233.7.9',
  $IPB6: '2001:db8::9001',
  $IP4: '10.117.5.3',
  $IP6: '2001:db8::1d07',
};
const mergePatch: Headers = { 'content-type': 'application/merge-patch+json' };
/** Kinds whose names are not free. */
const fixedNames = ['customresourcedefinitions', 'apiservices', 'ipaddresses', 'storageversions'];

/** Names that recorded texts hold, which are in the one profile's spelling. */
const spelled = [
  'vnd.{kubernetes}.protobuf',
  'x-{kubernetes}-',
  '{kubernetes}.io',
  '{v}',
  '{kube}-system',
  '{kube}-public',
  '{kube}-node-lease',
];
const [recordedNames, svcNames] = [namingProfile('kubernetes'), namingProfile('svc')];

export class Player {
  readonly #recording: Recording;
  readonly #send: Send;
  readonly #naming: Naming;
  readonly #stored = new Map<string, Promise<Stored>>();

  constructor(recording: Recording, naming: Naming, send: Send) {
    this.#recording = recording;
    this.#naming = naming;
    this.#send = send;
  }

  /** Makes the namespace of the cases. */
  async start(): Promise<void> {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    const { status, text } = await this.#call('POST', '/api/v1/namespaces', object);
    if (status !== 201) throw new Error(`no namespace: ${String(status)} ${text}`);
  }

  /** What the reference answered and what this server does. */
  async play(one: RecordedCase): Promise<readonly [expected: Outcome, observed: Outcome]> {
    const expected = normalOutcome(this.#respelled(expectedOutcome(this.#recording, one)));
    const stored = await this.#baseOf(one);
    let answer: Answer = { status: 0, text: 'base object refused', warnings: [] };
    for (const request of this.#requestsOf(one, stored)) {
      const { method, path, body, headers } = request(answer);
      answer = await this.#call(method, path, body, headers);
    }
    for (const path of one.own ?? []) await this.#remove(path);
    return [expected, observedOutcome(answer, one.g === true)];
  }

  #kindOf(id: string): RecordedKind {
    const kind = this.#recording.kinds.get(id);
    if (kind === undefined) throw new Error(`the recording has no kind ${id}`);
    return kind;
  }

  async #baseOf({ b, t, c }: RecordedCase): Promise<Stored> {
    if (b === undefined || (t === 'create' && c === 'a')) return undefined;
    const stored = this.#stored.get(b) ?? this.#makeBase(b);
    this.#stored.set(b, stored);
    return stored;
  }

  async #makeBase(id: string): Promise<Stored> {
    const base = this.#recording.bases.get(id);
    if (base === undefined) throw new Error(`the recording has no base object ${id}`);
    const kind = this.#kindOf(base.k);
    const made = await this.#call('POST', collectionOf(kind), base.object);
    if (made.status === 201 && kind.resource === 'customresourcedefinitions') {
      return this.#settled(pathOf(kind, base.object));
    }
    const object = objectOf(made);
    if (made.status !== 201 || base.status === undefined) return object;
    const before = recordAt(object, 'status');
    const body = { ...object, status: { ...before, ...base.status } };
    return objectOf(await this.#call('PUT', `${pathOf(kind, base.object)}/status`, body));
  }

  /** As the server's own part in its status has left it. */
  async #settled(path: string): Promise<Stored> {
    for (;;) {
      const object = objectOf(await this.#call('GET', path));
      const conditions = recordsAt(recordAt(object, 'status'), 'conditions');
      if (object === undefined || conditions.length > 0) return object;
      await new Promise(setImmediate);
    }
  }

  /** The requests of a case, each made of the answer before; the last is the one compared. */
  #requestsOf(one: RecordedCase, stored: Stored): readonly ((before: Answer) => Request)[] {
    const kind = this.#kindOf(one.k);
    const { m: change, p: path = '', o: body, h: headers } = one;
    const base = this.#recording.bases.get(one.b ?? '')?.object ?? {};
    const put = (at: string, object: JsonValue | undefined): (() => Request) => {
      return () => ({ method: 'PUT', path: at, body: object, headers });
    };
    const own = (): Request => ({ method: one.M ?? '', path, body, headers });
    // What the server stored is in its own names, so the change must be, too.
    const withChange = (object: JsonValue, of: Change | undefined): JsonValue =>
      changed(object, this.#respelled(of));
    if (stored === undefined && (one.t === 'put' || one.t === 'status')) return [];
    switch (one.t) {
      case 'create': {
        const object = one.x ?? changed(dryObject(kind, base), change);
        const at = `${collectionOf(kind)}?dryRun=All${one.q ?? ''}`;
        return [() => ({ method: 'POST', path: at, body: object, headers })];
      }
      case 'put':
        return [put(`${pathOf(kind, base)}?dryRun=All`, withChange(stored ?? {}, change))];
      case 'status': {
        const object = { ...stored, status: stored?.['status'] ?? {} };
        return [put(`${pathOf(kind, base)}/status?dryRun=All`, withChange(object, change))];
      }
      case 'back':
        return [
          () => ({ method: 'GET', path }),
          (before) => put(`${path}?dryRun=All`, objectOf(before))(),
        ];
      case 'call':
        return [own];
      case 'seq': {
        const earlier = (one.pre ?? []).map(([method, at, sent]) => (before: Answer): Request => {
          const body = method === 'PUT' ? withChange(objectOf(before) ?? {}, sent) : sent;
          return { method, path: at, body };
        });
        if (one.M !== 'PUT') return [...earlier, own];
        return [...earlier, (before) => put(path, withChange(objectOf(before) ?? {}, change))()];
      }
    }
  }

  async #remove(path: string): Promise<void> {
    await this.#call('PATCH', path, { metadata: { finalizers: null } }, mergePatch);
    await this.#call('DELETE', `${path}?gracePeriodSeconds=0`);
    if (!/^\/api\/v1\/namespaces\/[^/]+$/.test(path)) return;
    const name = path.split('/').at(-1) ?? '';
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await this.#call('PUT', `${path}/finalize`, { ...namespace, spec: { finalizers: [] } });
  }

  async #call(
    method: string,
    path: string,
    body?: JsonValue,
    headers: Headers = {},
  ): Promise<Answer> {
    const sent = (text: string): string => this.#renamed(withValues(text));
    const answer = await this.#send(
      method,
      sent(path),
      body === undefined ? undefined : sent(textOf(body)),
      this.#respelled(headers),
    );
    return {
      ...answer,
      text: withoutValues(answer.text),
      warnings: answer.warnings.map(withoutValues),
    };
  }

  #renamed(text: string): string {
    if (this.#naming === 'kubernetes') return text;
    return spelled.reduce(
      (renamed, name) => renamed.replaceAll(recordedNames.resolve(name), svcNames.resolve(name)),
      text,
    );
  }

  #respelled<T>(value: T): T {
    if (this.#naming === 'kubernetes' || value === undefined) return value;
    return JSON.parse(this.#renamed(JSON.stringify(value))) as T;
  }
}

const textOf = (body: JsonValue): string =>
  typeof body === 'string' ? body : JSON.stringify(body);

const withValues = (text: string): string =>
  Object.entries(valuesOfRun).reduce((all, [name, value]) => all.replaceAll(name, value), text);

const withoutValues = (text: string): string =>
  Object.entries(valuesOfRun).reduce((all, [name, value]) => all.replaceAll(value, name), text);

const collectionOf = ({ namespaced, prefix, resource }: RecordedKind): string =>
  namespaced ? `${prefix}/namespaces/${namespace}/${resource}` : `${prefix}/${resource}`;

function pathOf(kind: RecordedKind, object: JsonObject): string {
  const name = textAt(recordAt(object, 'metadata'), 'name');
  return `${collectionOf(kind)}/${encodeURIComponent(name).replaceAll('%24', '$')}`;
}

/** The base object under a name that nothing has. */
function dryObject(kind: RecordedKind, object: JsonObject): JsonObject {
  if (!fixedNames.includes(kind.resource)) {
    const metadata = recordAt(object, 'metadata');
    return { ...object, metadata: { ...metadata, name: 'mutant' } };
  }
  const text = JSON.stringify(object).replaceAll('$RUN', 'b$RUN').replaceAll('$IP', '$IPB');
  return JSON.parse(text) as JsonObject;
}

function objectOf({ status, text }: Answer): Stored {
  if (status >= 300) return undefined;
  const value = JSON.parse(text) as JsonValue;
  return isObject(value) ? value : undefined;
}
