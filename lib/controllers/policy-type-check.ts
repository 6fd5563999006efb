// Checks the expressions of validating policies against the types of the kinds that they match, and
// says in their status what does not fit: once for each generation, and again when the types of
// custom kinds change. What it finds only warns.
import { apiVersionOf } from '../api/type-info.ts';
import { recordAt, recordIn, recordsAt, textAt, textsAt } from '../api/json-access.ts';
import { sameJson } from '../api/json-equal.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import { inTurns } from '../base/steps.ts';
import { sortUtf8 } from '../base/utf8-order.ts';
import { follow } from '../cacher/follow.ts';
import type { Item } from '../cacher/resource-view.ts';
import { typeCheckPolicy } from '../cel/use/type-check.ts';
import type { CheckedKind, TypeCheckWarning } from '../cel/use/type-check.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { OnChange, ResourceMapHolder } from '../registry/resource-map.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';

export interface PolicyTypeCheckOptions {
  readonly policies: ResourceStore;
  /** What is served, with its types. */
  readonly resources: Pick<ResourceMapHolder, 'all' | 'find' | 'follow'>;
  readonly client: InternalClient;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

/** The owner of the status, as in Kubernetes. */
const fieldManager = 'validatingadmissionpolicy-status';

export class PolicyTypeCheckController implements Controller {
  readonly name = fieldManager;
  readonly #options: PolicyTypeCheckOptions;

  constructor(options: PolicyTypeCheckOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { policies, resources, clock, log, observer } = this.#options;
    const queue = new KeyedQueue({ name: this.name, clock, log, observer }, (name, running) =>
      this.#reconcile(name, running),
    );
    // Policy → groups whose kinds it is checked against
    const known = new Map<string, ReadonlySet<string>>();
    const follower = {
      present: (item: Item) => {
        known.set(item.name, groupsOf(item));
        queue.add(item.name);
      },
      absent: ({ name }: Item) => void known.delete(name),
    };
    const onChange: OnChange = (former, now) => {
      const changed = new Set([...former, ...now].map(groupOf));
      for (const [name, groups] of known) {
        if (!groups.isDisjointFrom(changed)) queue.add(name);
      }
    };
    const unfollow = resources.follow(onChange);
    const { view } = policies;
    await Promise.all([queue.run(signal), follow(follower, { view, log }, signal)]).finally(
      unfollow,
    );
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<Outcome> {
    const { policies, client } = this.#options;
    const item = policies.view.peek({ namespace: '', name });
    if (item === undefined || item.corrupted) return 'done';
    const policy = item.object();
    const expressionWarnings = await this.#warningsOf(policy);
    const status = {
      observedGeneration: policy.metadata?.generation ?? 0,
      typeChecking: { expressionWarnings },
    };
    if (isSaid(recordAt(policy, 'status'), status)) return 'done';
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

  async #warningsOf(policy: Readonly<JsonObject>): Promise<JsonObject[]> {
    const { naming, resources } = this.#options;
    const spec = recordAt(policy, 'spec');
    const paramKind = recordAt(spec, 'paramKind');
    const paramsType = resources.all.find(({ resource: { kind } }) => {
      const isVersion = apiVersionOf(kind) === textAt(paramKind, 'apiVersion');
      return isVersion && kind.kind === textAt(paramKind, 'kind');
    })?.resource.type;
    const steps = typeCheckPolicy({
      naming,
      kinds: checkedKinds(policy, resources),
      hasParams: paramKind !== undefined,
      ...(paramsType === undefined ? {} : { paramsType }),
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

/** Rules with a star say nothing about types. */
function* namedRules(policy: Readonly<JsonObject>): Generator<JsonObject> {
  for (const rule of recordsAt(recordIn(policy, 'spec', 'matchConstraints'), 'resourceRules')) {
    const lists = ['apiGroups', 'apiVersions'].map((name) => textsAt(rule, name));
    if (!lists.some((list) => list.includes('*'))) yield rule;
  }
}

function groupsOf(item: Item): ReadonlySet<string> {
  if (item.corrupted) return new Set();
  const policy = item.object();
  const apiVersion = textAt(recordIn(policy, 'spec', 'paramKind'), 'apiVersion');
  const groups = [...namedRules(policy)].flatMap((rule) => textsAt(rule, 'apiGroups'));
  return new Set([...groups, apiVersion.slice(0, Math.max(apiVersion.indexOf('/'), 0))]);
}

/** Subresources and stars are left out; the first so many kinds, in the order of their names. */
function checkedKinds(
  policy: Readonly<JsonObject>,
  resources: PolicyTypeCheckOptions['resources'],
): readonly CheckedKind[] {
  const found = new Map<string, CheckedKind>();
  const isWhole = (text: string): boolean => !/[*/]/.test(text);
  for (const rule of namedRules(policy)) {
    const names = sortUtf8([...textsAt(rule, 'resources')].filter(isWhole));
    for (const group of sortUtf8([...textsAt(rule, 'apiGroups')])) {
      for (const version of sortUtf8([...textsAt(rule, 'apiVersions')])) {
        for (const resource of names) {
          const served = resources.find({ group, version, resource })?.resource;
          if (served === undefined || found.size === limits.typeCheckedKindsMax) continue;
          const { kind, type } = served;
          found.set(`${kind.group}\0${kind.version}\0${kind.kind}`, { ...kind, type });
        }
      }
    }
  }
  const keys = sortUtf8([...found.keys()]);
  return keys.map((key) => found.get(key)).filter((kind) => kind !== undefined);
}

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
