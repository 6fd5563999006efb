// Verbs of a replica as requests name them: plain bodies and query texts in, the sent object out.
// For suites.
import { apiVersionOf } from '../../api/type-info.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { StatusError } from '../../base/status.ts';
import type { Item } from '../../cacher/resource-view.ts';
import { jsonCodec } from '../../codec/json.ts';
import { parseDeleteOptions, parseListOptions, parseWriteOptions } from '../options.ts';
import type {
  DeleteAnswer,
  ListAnswer,
  PatchKind,
  RequestScope,
  WriteAnswer,
} from '../requests.ts';
import type { ResourceStore } from '../resource-store.ts';
import type { Replica } from './registry-on-etcd.ts';

export interface Sent {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly [key: string]: unknown;
  };
  readonly [key: string]: unknown;
}

interface WriteTexts {
  readonly query?: string;
  readonly subresource?: string;
}

export const scope = (): RequestScope => ({
  user: { name: 'tester', uid: '', groups: [], extra: {} },
  warnings: [],
  signal: AbortSignal.timeout(60_000),
});
export const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
export const sent = (item: Item): Sent => JSON.parse(Buffer.from(item.json()).toString()) as Sent;
export const params = (text: string): URLSearchParams => new URLSearchParams(text);
export const namesOf = ({ items }: ListAnswer): string[] => items.map(({ name }) => name);

/** Names that no other test of the file uses. */
let count = 0;
export const fresh = (): string => `o${String(++count)}`;

export const configMap = (name: string, more: object = {}, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  ...more,
});
export const leaseBody = (name: string, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  spec: { holderIdentity: 'x' },
});

export async function failure(run: Promise<unknown>): Promise<StatusError> {
  try {
    await run;
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
export const codeOf = async (run: Promise<unknown>): Promise<number> => (await failure(run)).code;

/** `field reason` of each cause of a 422. */
export async function causesOf(run: Promise<unknown>): Promise<string[]> {
  const { code, details } = await failure(run);
  const causes = (details?.causes ?? []).map(
    (cause) => `${cause.field ?? ''} ${cause.reason ?? ''}`,
  );
  return code === 422 ? causes : [`code ${String(code)}`];
}

export const objectOf = async (run: Promise<DeleteAnswer>): Promise<Sent> => {
  const answer = await run;
  if (answer.kind !== 'object') throw new Error('the answer is a Status');
  return sent(answer.item);
};

/** Verbs on namespaced objects work in the namespace `ns` unless told otherwise. */
export class VerbDriver {
  readonly #replica: Replica;

  constructor(replica: Replica) {
    this.#replica = replica;
  }

  async create(store: ResourceStore, body: object, query = '', namespace = 'ns'): Promise<Sent> {
    const answer = await store.create({
      ...scope(),
      path: { namespace: placeOf(store, namespace), name: '', subresource: '' },
      body: jsonCodec.decode(bytesOf(body), store.resource.type),
      options: parseWriteOptions(params(query), 'create', this.#replica.naming),
    });
    if (!answer.created) throw new Error('a create must say so');
    return sent(answer.item);
  }

  /** To a subresource that is created: binding, eviction. A text is sent as it is. */
  async act(
    store: ResourceStore,
    name: string,
    body: object | string,
    { query = '', subresource = '' }: WriteTexts,
  ): Promise<JsonObject> {
    const target = store.subresources.get(subresource);
    if (target?.create === undefined) throw new Error(`${subresource} cannot be created`);
    const answer = await target.create({
      ...scope(),
      path: { namespace: placeOf(store, 'ns'), name, subresource },
      body: jsonCodec.decode(
        typeof body === 'string' ? Buffer.from(body) : bytesOf(body),
        target.input.type,
      ),
      options: parseWriteOptions(params(query), 'create', this.#replica.naming),
    });
    return answer.item.object();
  }

  update(
    store: ResourceStore,
    name: string,
    body: object,
    { query = '', subresource = '' }: WriteTexts = {},
  ): Promise<WriteAnswer> {
    const read = () => jsonCodec.decode(bytesOf(body), store.resource.type);
    return store.update({
      ...scope(),
      path: { namespace: placeOf(store, 'ns'), name, subresource },
      body: read(),
      readAgain: read,
      options: parseWriteOptions(params(query), 'update', this.#replica.naming),
    });
  }

  /** A list is a JSON patch, anything else a merge patch unless told; a text is sent as it is. */
  async patch(
    store: ResourceStore,
    name: string,
    body: unknown,
    texts: WriteTexts & { readonly kind?: PatchKind } = {},
  ): Promise<Sent> {
    const answer = await this.patchAnswer(store, name, body, texts);
    if (answer.created) throw new Error('a patch creates nothing');
    return sent(answer.item);
  }

  /** An apply may create. */
  async apply(
    store: ResourceStore,
    name: string,
    body: unknown,
    texts: WriteTexts = {},
  ): Promise<Sent> {
    const { kind, apiVersion } = apiTypeOf(store);
    const whole = typeof body === 'string' ? body : { kind, apiVersion, ...(body as object) };
    return sent((await this.patchAnswer(store, name, whole, { ...texts, kind: 'apply' })).item);
  }

  patchAnswer(
    store: ResourceStore,
    name: string,
    body: unknown,
    texts: WriteTexts & { readonly kind?: PatchKind } = {},
  ): Promise<WriteAnswer> {
    const { query = '', subresource = '', kind = Array.isArray(body) ? 'json' : 'merge' } = texts;
    const target = subresource === '' ? store : store.subresources.get(subresource);
    if (target?.patch === undefined) throw new Error(`${subresource} cannot be patched`);
    return target.patch({
      ...scope(),
      path: { namespace: placeOf(store, 'ns'), name, subresource },
      kind,
      patch: typeof body === 'string' ? Buffer.from(body) : bytesOf(body),
      options: parseWriteOptions(params(query), kind, this.#replica.naming),
    });
  }

  remove(
    store: ResourceStore,
    name: string,
    {
      body,
      query = '',
      namespace = 'ns',
    }: { body?: object; query?: string; namespace?: string } = {},
  ): Promise<DeleteAnswer> {
    const options = body as Parameters<typeof parseDeleteOptions>[1];
    return store.delete({
      ...scope(),
      path: { namespace: placeOf(store, namespace), name, subresource: '' },
      options: parseDeleteOptions(params(query), options, this.#replica.naming),
    });
  }

  async get(store: ResourceStore, name: string, resourceVersion = ''): Promise<Sent> {
    const path = { namespace: placeOf(store, 'ns'), name, subresource: '' };
    const { signal } = scope();
    return sent(await store.get({ path, options: { resourceVersion }, signal }));
  }

  list(store: ResourceStore, query = '', namespace = 'ns'): Promise<ListAnswer> {
    const options = parseListOptions(params(query));
    const { signal } = scope();
    return store.list({ namespace: placeOf(store, namespace), name: '', options, signal });
  }
}

const apiTypeOf = ({
  resource: { kind },
}: ResourceStore): { kind: string; apiVersion: string } => ({
  kind: kind.kind,
  apiVersion: apiVersionOf(kind),
});

const placeOf = (store: ResourceStore, namespace: string): string =>
  store.resource.namespaced ? namespace : '';
