// Checks the expressions of validating policies against the types of the kinds that they match, and
// says in their status what does not fit: once for each generation, and again when a type has
// become another one, also since an earlier lead. What it finds only warns.
import { apiVersionOf } from '../api/type-info.ts';
import { recordAt, recordsAt, textAt } from '../api/json-access.ts';
import { sameJson } from '../api/json-equal.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import { inTurns } from '../base/steps.ts';
import { follow } from '../cacher/follow.ts';
import type { Item } from '../cacher/resource-view.ts';
import { typeCheckPolicy } from '../cel/use/type-check.ts';
import type { TypeCheckWarning } from '../cel/use/type-check.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { OnChange, ResourceMapHolder } from '../registry/resource-map.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Keyspace } from '../storage-etcd/keys.ts';
import type { Storage } from '../storage-etcd/storage.ts';
import { CheckedKinds } from './checked-kinds.ts';
import type { PolicyKinds } from './checked-kinds.ts';
import { CheckedTypes, includesTypes } from './checked-types.ts';
import type { Types } from './checked-types.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';

export interface PolicyTypeCheckOptions {
  readonly policies: ResourceStore;
  /** What is served, with its types. */
  readonly resources: Pick<ResourceMapHolder, 'all' | 'follow'>;
  readonly client: InternalClient;
  /** Where it is kept what policies were checked against; it ends with the lead. */
  readonly storage: Pick<Storage, 'get' | 'put'>;
  readonly keyspace: Keyspace;
  /** Names all that the language of expressions is in this server. */
  readonly release: string;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

/** The owner of the status, as in Kubernetes. */
const fieldManager = 'validatingadmissionpolicy-status';

/** What a policy was checked as. */
interface Checked {
  readonly uid: string;
  readonly generation: number;
  readonly types: Types;
  readonly warnings: readonly JsonObject[];
}

/** In the queue: no policy, but the record of what all of them were checked against. */
const recordKey = '';

export class PolicyTypeCheckController implements Controller {
  readonly name = fieldManager;
  readonly #options: PolicyTypeCheckOptions;
  readonly #record: CheckedTypes;
  readonly #kinds: CheckedKinds;
  readonly #checked = new Map<string, Checked>();
  /** Of policies whose check has begun: those that they name. */
  readonly #groups = new Map<string, ReadonlySet<string>>();
  readonly #queue: KeyedQueue;
  /** Policies that are to be looked at. */
  readonly #open = new Set<string>();
  #runningCount = 0;
  /** All policies that there were at the begin were told. */
  #isWhole = false;
  #needsRecord = true;

  constructor(options: PolicyTypeCheckOptions) {
    const { storage, keyspace, release, resources, clock, log, observer } = options;
    this.#options = options;
    const key = keyspace.internalKey('checked-types');
    this.#record = new CheckedTypes({ storage, key, release });
    this.#kinds = new CheckedKinds(resources);
    this.#queue = new KeyedQueue({ name: this.name, clock, log, observer }, (name, running) =>
      name === recordKey ? this.#settle(running) : this.#work(name, running),
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    const { policies, resources, log } = this.#options;
    const queue = this.#queue;
    const follower = {
      present: ({ name }: Item) => this.#add(name),
      absent: ({ name }: Item) => this.#add(name),
      synced: () => {
        this.#isWhole = true;
        if (this.#isRecordDue) queue.add(recordKey);
      },
    };
    const onChange: OnChange = (former, now) => {
      const changed = new Set([...former, ...now].map(groupOf));
      for (const [name, groups] of this.#groups) {
        if (groups.isDisjointFrom(changed)) continue;
        this.#needsRecord = true;
        this.#add(name);
      }
    };
    const unfollow = resources.follow(onChange);
    const { view } = policies;
    await Promise.all([queue.run(signal), follow(follower, { view, log }, signal)]).finally(
      unfollow,
    );
  }

  #add(name: string): void {
    this.#open.add(name);
    this.#queue.add(name);
  }

  /** All policies are checked, and the record does not say so. */
  get #isRecordDue(): boolean {
    const isIdle = this.#isWhole && this.#open.size === 0 && this.#runningCount === 0;
    return isIdle && this.#needsRecord;
  }

  async #work(name: string, signal: AbortSignal): Promise<Outcome> {
    this.#open.delete(name);
    this.#runningCount++;
    try {
      return await this.#reconcile(name, signal);
    } catch (error) {
      this.#open.add(name);
      throw error;
    } finally {
      this.#runningCount--;
      if (this.#isRecordDue) this.#queue.add(recordKey);
    }
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<Outcome> {
    const { policies, client } = this.#options;
    const before = await this.#record.ofBefore(signal);
    const item = policies.view.peek({ namespace: '', name });
    if (item === undefined) {
      this.#groups.delete(name);
      this.#checked.delete(name);
    }
    if (item === undefined || item.corrupted) return 'done';
    const policy = item.object();
    const { warnings, types, generation } = await this.#check(policy, before);
    const status = {
      observedGeneration: generation,
      typeChecking: { expressionWarnings: [...warnings] },
    };
    if (isSaid(recordAt(policy, 'status'), status)) return 'done';
    if (await this.#record.expect(types, signal)) this.#needsRecord = true;
    const { kind } = policies.resource;
    const metadata = { name, uid: policy.metadata?.uid ?? '' };
    const patch = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, status };
    const path = { namespace: '', name, subresource: 'status' };
    const how = { kind: 'apply', fieldManager, force: true } as const;
    try {
      await client.patch(policies, { path, patch, ...how }, signal);
    } catch (error) {
      // It is gone, or another one has its name, which comes by itself.
      if (!(error instanceof StatusError) || ![404, 409].includes(error.code)) throw error;
    }
    return 'done';
  }

  async #settle(signal: AbortSignal): Promise<Outcome> {
    if (!this.#isRecordDue) return 'done';
    const types = new Map<string, string>();
    for (const checked of this.#checked.values()) {
      for (const [name, type] of checked.types) types.set(name, type);
    }
    this.#needsRecord = false;
    try {
      await this.#record.settle(types, signal);
    } catch (error) {
      this.#needsRecord = true;
      throw error;
    }
    return 'done';
  }

  /** What is known of a policy, anew where it or a type is another one. */
  async #check(policy: Readonly<ApiObject>, before: Types | undefined): Promise<Checked> {
    const { uid = '', generation = 0, name = '' } = policy.metadata ?? {};
    const kinds = this.#kinds.of(policy);
    const { types, groups } = kinds;
    this.#groups.set(name, groups);
    const of = { uid, generation, types };
    let checked = this.#checked.get(name);
    if (checked === undefined || !isSame(checked, of)) {
      const isFirst = checked === undefined;
      const said = isFirst ? saidBefore(policy, kinds, before) : undefined;
      const warnings = said ?? (await this.#warningsOf(policy, kinds));
      checked = { ...of, warnings };
      this.#checked.set(name, checked);
    }
    return checked;
  }

  async #warningsOf(
    policy: Readonly<JsonObject>,
    { kinds, params }: PolicyKinds,
  ): Promise<JsonObject[]> {
    const spec = recordAt(policy, 'spec');
    const steps = typeCheckPolicy({
      naming: this.#options.naming,
      kinds: kinds.map(({ kind, type }) => ({ ...kind, type })),
      hasParams: recordAt(spec, 'paramKind') !== undefined,
      ...(params === undefined ? {} : { paramsType: params.type }),
      variables: recordsAt(spec, 'variables').map((one) => ({
        name: textAt(one, 'name'),
        expression: textAt(one, 'expression'),
      })),
      expressions: recordsAt(spec, 'validations').flatMap(expressionsOf),
    });
    const warnings: readonly TypeCheckWarning[] = await inTurns(steps);
    return warnings.map(({ fieldRef, warning }) => ({ fieldRef, warning }));
  }
}

const isSame = (checked: Checked, { uid, generation, types }: Omit<Checked, 'warnings'>): boolean =>
  checked.uid === uid &&
  checked.generation === generation &&
  checked.types.size === types.size &&
  includesTypes(checked.types, types);

/** What the policy says since an earlier lead; undefined: of another generation, or other types. */
function saidBefore(
  { metadata, status }: Readonly<ApiObject>,
  kinds: PolicyKinds,
  before: Types | undefined,
): readonly JsonObject[] | undefined {
  const said = recordAt({ status }, 'status');
  const typeChecking = recordAt(said, 'typeChecking');
  if (before === undefined || typeChecking === undefined) return undefined;
  if (said?.['observedGeneration'] !== metadata?.generation) return undefined;
  if (!includesTypes(before, kinds.types) || kinds.namesGone(before)) return undefined;
  return [...recordsAt(typeChecking, 'expressionWarnings')];
}

type Status = { readonly observedGeneration: number; readonly typeChecking: JsonObject };

function isSaid(stored: Readonly<JsonObject> | undefined, status: Status): boolean {
  const typeChecking = recordAt(stored, 'typeChecking');
  if (typeChecking === undefined) return false;
  return (
    stored?.['observedGeneration'] === status.observedGeneration &&
    sameJson(
      [...recordsAt(typeChecking, 'expressionWarnings')],
      [...recordsAt(status.typeChecking, 'expressionWarnings')],
    )
  );
}

const groupOf = (of: { readonly group?: string; readonly resource?: ResourceInfo }): string =>
  of.resource?.group ?? of.group ?? '';

function expressionsOf(
  validation: JsonObject,
  index: number,
): readonly { readonly fieldRef: string; readonly expression: string }[] {
  const members = ['expression', 'messageExpression'];
  return members
    .map((member) => ({
      fieldRef: `spec.validations[${String(index)}].${member}`,
      expression: textAt(validation, member),
    }))
    .filter(({ expression }) => expression !== '');
}
