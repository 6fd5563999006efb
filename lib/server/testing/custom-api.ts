// The whole API of one replica that serves custom resources, listening: for suites.
import { ServingDefinitions } from '../../crd/testing/definitions-on-etcd.ts';
import type { ReplicaOptions } from '../../registry/testing/registry-on-etcd.ts';
import { ApiOnEtcd } from './api-on-etcd.ts';
import type { ApiServerOptions } from './api-server.ts';

export interface CustomApi {
  readonly api: ApiOnEtcd;
  readonly custom: ServingDefinitions;
  stop(): Promise<void>;
}

export async function startCustomApi(
  options: ApiServerOptions = {},
  replicaOptions: ReplicaOptions = {},
): Promise<CustomApi> {
  const custom = new ServingDefinitions();
  const given = { ...replicaOptions, ...custom.replicaOptions };
  const api = await ApiOnEtcd.start(() => options, given);
  await custom.begin(api.replica);
  return {
    api,
    custom,
    async stop() {
      custom.end();
      await api.stop();
    },
  };
}
