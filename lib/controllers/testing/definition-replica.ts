// A replica of a suite that accepts definitions, and definitions to give to it.
import type { JsonObject } from '../../api/type-info.ts';
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { systemClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { serverUser } from '../../base/user.ts';
import { internalClient } from '../../registry/internal-client.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { Replica, ReplicaOptions } from '../../registry/testing/registry-on-etcd.ts';
import { keyspace } from '../../registry/testing/registry-on-etcd.ts';
import type { RegistryOnEtcd } from '../../registry/testing/registry-on-etcd.ts';
import { VerbDriver } from '../../registry/testing/verb-driver.ts';
import type { Sent } from '../../registry/testing/verb-driver.ts';
import type { Holder } from '../../kinds/validator.ts';
import { DefinitionAcceptance } from '../definitions/acceptance.ts';
import { OwnWrites } from '../definitions/own-writes.ts';
import { runController } from './run-controller.ts';

const definitionsName = 'apiextensions.svc.io/customresourcedefinitions';

export interface DefinitionReplica {
  readonly replica: Replica;
  readonly definitions: ResourceStore;
  readonly verbs: VerbDriver;
  /** Starts its acceptance. @returns what stops it. */
  accept(): () => Promise<void>;
}

export async function definitionReplica(
  registry: RegistryOnEtcd,
  { clock = systemClock, ...options }: ReplicaOptions & { readonly clock?: Clock } = {},
): Promise<DefinitionReplica> {
  const ownWrites = new OwnWrites(clock);
  const replica = await registry.replica({
    ...options,
    onStoredOf: ({ resource }) =>
      resource === 'customresourcedefinitions' ? (item) => ownWrites.note(item) : undefined,
  });
  const definitions = replica.store(definitionsName);
  const { storage, naming } = replica;
  const client = internalClient(serverUser);
  const log = createLogger('error');
  const parts = { definitions, storage, keyspace, ownWrites, naming, client, clock, log };
  const accept = (): (() => Promise<void>) => runController(new DefinitionAcceptance(parts));
  return { replica, definitions, verbs: new VerbDriver(replica), accept };
}

/** With the members of `spec` in place of those of a small one. */
export interface DefinitionBody {
  readonly metadata: { readonly name: string };
  readonly spec: JsonObject;
}

export function definition(
  names: JsonObject,
  spec: JsonObject = {},
  metadata: JsonObject = {},
): DefinitionBody {
  const group = textAt(spec, 'group') === '' ? 'example.com' : textAt(spec, 'group');
  return {
    metadata: { name: `${textAt(names, 'plural')}.${group}`, ...metadata },
    spec: {
      group,
      scope: 'Namespaced',
      names,
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
      ...spec,
    },
  };
}

/** As the store has it now. */
export const read = ({ definitions, verbs }: DefinitionReplica, name: string): Promise<Sent> =>
  verbs.get(definitions, name);

/** `TYPE STATUS REASON`, sorted. */
export const conditionsIn = (definition: Holder): string[] =>
  recordsAt(recordAt(definition, 'status'), 'conditions')
    .map((one) => ['type', 'status', 'reason'].map((name) => textAt(one, name)).join(' '))
    .sort();

/** Waits for a state of the definition. @throws after a time that only a failure takes */
export async function untilDefinition(
  { definitions }: DefinitionReplica,
  name: string,
  isWanted: (definition: JsonObject | undefined) => boolean,
): Promise<JsonObject | undefined> {
  const signal = AbortSignal.timeout(30_000);
  const start = { from: 'state', at: { mode: 'latest' }, bookmark: true } as const;
  const cursor = await definitions.view.watch({ name }, start, { bookmarks: false }, signal);
  try {
    let now: JsonObject | undefined;
    for (let isWhole = false; ;) {
      const events = await cursor.next(signal);
      for (const { type, item, initialEventsEnd } of events ?? []) {
        if (item !== undefined) now = type === 'DELETED' ? undefined : item.object();
        isWhole ||= initialEventsEnd === true;
        if (isWhole && isWanted(now)) return now;
      }
    }
  } finally {
    cursor.close();
  }
}
