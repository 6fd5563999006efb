// A kind whose type comes from a schema, over HTTP: `things` of `example.com/v1` with a status and
// a scale, and what a client sends it. For suites.
import type { ResourceInfo } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { cborCodec } from '../../codec/cbor.ts';
import { openStores } from '../../registry/testing/open-stores.ts';
import { fresh } from '../../registry/testing/verb-driver.ts';
import { ApiOnEtcd } from './api-on-etcd.ts';
import type { ApiAnswer, SentRequest } from './api-on-etcd.ts';

export const things = '/apis/example.com/v1/namespaces/ns/things';
export const typeMeta = { apiVersion: 'example.com/v1', kind: 'Thing' };
const text = { type: 'string' };
const kept = { 'x-svc-preserve-unknown-fields': true };
const embedded = { type: 'object', 'x-svc-embedded-resource': true, ...kept };
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: text,
        replicas: { type: 'integer' },
        list: { type: 'array', items: { type: 'object', properties: { k: text } } },
        loose: { type: 'object', ...kept },
        e: embedded,
      },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, note: text } },
  },
};

export class ApiOfThings {
  readonly api: ApiOnEtcd;
  readonly resource: ResourceInfo;

  private constructor(api: ApiOnEtcd, resource: ResourceInfo) {
    this.api = api;
    this.resource = resource;
  }

  static async start(): Promise<ApiOfThings> {
    let resource: ResourceInfo | undefined;
    const api = await ApiOnEtcd.start((replica) => {
      const kind = { schemas: { v1: schema }, subresources: ['status', 'scale'] } as const;
      const stores = [...openStores(replica, kind).values()];
      replica.stores.set('things', stores);
      resource = stores[0]?.resource;
      return {};
    });
    if (resource === undefined) throw new Error('things are served');
    return new ApiOfThings(api, resource);
  }

  stop(): Promise<void> {
    return this.api.stop();
  }

  send(line: string, sent?: SentRequest): Promise<ApiAnswer> {
    return this.api.send(line, sent);
  }

  statusOf(line: string, sent?: SentRequest): Promise<number> {
    return this.api.statusOf(line, sent);
  }

  async made(spec: object = {}): Promise<{ name: string; path: string; version: string }> {
    const name = fresh();
    const { json } = await this.send(`POST ${things}`, { body: thing(name, spec) });
    const { metadata } = json as { metadata: { resourceVersion: string } };
    return { name, path: `${things}/${name}`, version: metadata.resourceVersion };
  }

  cbor(object: object): Uint8Array {
    return cborCodec.encode(object as ApiObject, this.resource.type);
  }
}

export const thing = (name: string, spec: object = {}, metadata: object = {}): object => ({
  ...typeMeta,
  metadata: { name, ...metadata },
  spec,
});

interface Failure {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: unknown;
}

export const failureOf = ({ json }: ApiAnswer): Failure => json as Failure;

export const messageOf = (answer: ApiAnswer): [number, string] => {
  const { code, message } = failureOf(answer);
  return [code, message];
};
