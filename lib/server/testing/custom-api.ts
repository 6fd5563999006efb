// The whole API of one replica that serves custom resources, listening: for suites.
import { ServingDefinitions } from '../../crd/testing/definitions-on-etcd.ts';
import type { ReplicaOptions } from '../../registry/testing/registry-on-etcd.ts';
import type { Sent } from '../../registry/testing/verb-driver.ts';
import { ApiOnEtcd } from './api-on-etcd.ts';
import type { ApiAnswer, SentRequest } from './api-on-etcd.ts';
import type { ApiServerOptions } from './api-server.ts';

export interface CustomApi {
  readonly api: ApiOnEtcd;
  readonly custom: ServingDefinitions;
  send(line: string, sent?: SentRequest): Promise<ApiAnswer>;
  /** The object of an answer that is no refusal. */
  answered(line: string, sent?: SentRequest): Promise<Sent>;
  /** Of a refusal. */
  refused(line: string, sent?: SentRequest): Promise<Refusal>;
  stop(): Promise<void>;
}

export interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly causes: readonly object[] | undefined;
}

/** Of the group of the suites' definitions, in the namespace `ns`. */
export const customPath = (plural: string, name = '', version = 'v1'): string =>
  `/apis/example.com/${version}/namespaces/ns/${plural}${name === '' ? '' : `/${name}`}`;

export async function startCustomApi(
  options: ApiServerOptions = {},
  replicaOptions: ReplicaOptions = {},
): Promise<CustomApi> {
  const custom = new ServingDefinitions();
  const given = { ...replicaOptions, ...custom.replicaOptions };
  const api = await ApiOnEtcd.start(() => options, given);
  await custom.begin(api.replica);
  const send = (line: string, sent?: SentRequest): Promise<ApiAnswer> => api.send(line, sent);
  return {
    ...{ api, custom, send },
    async answered(line, sent) {
      const { status, body, json } = await send(line, sent);
      if (status >= 300) throw new Error(`${String(status)} ${body.toString()}`);
      return json as Sent;
    },
    async refused(line, sent) {
      const { status, json } = await send(line, sent);
      if (status < 300) throw new Error(`it answers ${String(status)}`);
      const { message, details } = json as { message: string; details?: { causes?: object[] } };
      return { code: status, message, causes: details?.causes };
    },
    async stop() {
      custom.end();
      await api.stop();
    },
  };
}
