// Eviction: the deletion of a pod that disruption budgets may refuse. A budget is charged by
// compare-and-swap before the pod goes, so that no number of replicas takes more than it allows.
// Who may evict need not be allowed to delete: admission sees the Eviction alone.
import { admissionChain } from '../../admission/chain.ts';
import { recordAt } from '../../api/json-access.ts';
import { cloneAlike } from '../../api/json-value.ts';
import type { SubresourceInfo } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import { conflict, notFound, StatusError, tooManyRequests } from '../../base/status.ts';
import { serverUser } from '../../base/user.ts';
import type { Item, ItemKey } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { changeStored } from '../change-stored.ts';
import { currentState } from '../current-state.ts';
import { deleteObject } from '../delete.ts';
import { checkPreconditions } from '../deletion-plan.ts';
import { judgedNow } from '../judged-now.ts';
import { checkName } from '../object-meta.ts';
import { parseDeleteOptions } from '../options.ts';
import { recordOf } from '../own-kind.ts';
import { admittedBody, statusRecord, succeeded } from '../posted-action.ts';
import type { CreateRequest, DeleteOptions } from '../requests.ts';
import { itemKeyOf } from '../store-parts.ts';
import type { StoreParts } from '../store-parts.ts';
import { writeTransformed } from '../update.ts';
import type { Subresource } from '../verb-target.ts';
import { notSettled, selectsPod, spares, standingOf, takeDisruption } from './disruption-budget.ts';
import { setPodCondition } from './pod-condition.ts';

/** undefined: the kind of the subresource is not known. */
export function evictionSubresource(
  parts: StoreParts,
  info: SubresourceInfo,
): Subresource | undefined {
  const known = recordOf(parts, info.kind);
  if (known === undefined) return undefined;
  const eviction = { ...known, otherVersions: ['v1beta1'] };
  const status = statusRecord(parts);
  const pods = { ...parts, admission: admissionChain([]) };
  const budgets = parts.partsOf({ group: 'policy', resource: 'poddisruptionbudgets' });
  return {
    info,
    resource: eviction,
    input: eviction,
    createAnswer: status,
    async create(request) {
      const judged = judgedNow(pods);
      const options = await admittedBody(parts, eviction, request, (body) => {
        checkName(body, request.path.name);
        return deleteOptionsOf(parts, request, body);
      });
      await evict({ pods: judged, budgets, key: itemKeyOf(parts, request.path), request, options });
      return succeeded(status);
    },
  };
}

/**
 * Those of the body; the query can only ask for a dry run. What cannot be read is not evicted.
 * @throws StatusError 422.
 */
function deleteOptionsOf(
  { naming }: StoreParts,
  request: CreateRequest,
  body: Readonly<ApiObject>,
): DeleteOptions {
  const given = recordAt(body, 'deleteOptions') as ApiObject | undefined;
  const options = parseDeleteOptions(new URLSearchParams(), given, naming);
  const dryRun = options.dryRun || request.options.dryRun;
  return { ...options, dryRun, ignoreReadError: false };
}

interface Eviction {
  /** Without admission. */
  readonly pods: StoreParts;
  /** undefined: nobody can make any. */
  readonly budgets: StoreParts | undefined;
  readonly key: ItemKey;
  readonly request: CreateRequest;
  readonly options: DeleteOptions;
}

async function evict(eviction: Eviction): Promise<void> {
  for (let tries = 0; tries < limits.lostRacesMax; tries++) {
    if (await tryEvict(eviction)) return;
  }
  throw tooManyRequests('too many others write this pod or its disruption budget at once', 1);
}

/** False: what it was decided by has changed meanwhile, or another pod has taken its name. */
async function tryEvict(eviction: Eviction): Promise<boolean> {
  const { pods, key, request, options } = eviction;
  const { item } = await currentState(pods, key, request.signal);
  if (item === undefined) throw notFound(pods.resource, key.name);
  checkPreconditions(pods, item, options); // before a budget is charged
  const leave = await leaveOf(eviction, item);
  if (leave === undefined) return false;
  const asked = options.preconditions;
  const version = leave.onlyAsItIs ? String(item.revision) : undefined;
  const preconditions = {
    uid: asked.uid ?? item.object().metadata?.uid,
    resourceVersion: asked.resourceVersion ?? version,
  };
  try {
    await endPod(eviction, { ...options, preconditions });
    return true;
  } catch (error) {
    if (asked.resourceVersion !== undefined || !isOf(error, 'Conflict')) throw error;
    if (leave.sparedBy !== undefined) throw notSettled(leave.sparedBy);
    return false;
  }
}

const isOf = (error: unknown, reason: StatusError['reason']): boolean =>
  error instanceof StatusError && error.reason === reason;

interface Leave {
  /** The decision holds for this version of the pod: another one may be ready. */
  readonly onlyAsItIs: boolean;
  /** The budget that does not count the pod. */
  readonly sparedBy?: string;
}

/** What lets the pod go; undefined: to be asked again. @throws StatusError 403, 409, 429. */
async function leaveOf(eviction: Eviction, item: Item): Promise<Leave | undefined> {
  const { pods, budgets, request, key } = eviction;
  const pod = item.object();
  const standing = standingOf(pod);
  if (standing !== 'guarded') return { onlyAsItIs: standing === 'pending' };
  if (budgets === undefined) return { onlyAsItIs: false };
  const select = { namespace: key.namespace };
  const page = { limitCount: 0 };
  const { items } = await budgets.view.list(select, { mode: 'latest' }, page, request.signal);
  const [budget, another] = items.filter((one) => selectsPod(one.object(), pod));
  if (budget === undefined) return { onlyAsItIs: false };
  if (another !== undefined) {
    const message =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not ' +
      'support.';
    throw conflict(pods.resource, key.name, message);
  }
  if (spares(budget.object(), pod)) return { onlyAsItIs: true, sparedBy: budget.name };
  return (await charge(budgets, budget, eviction)) ? { onlyAsItIs: false } : undefined;
}

/** False: the budget is gone. @throws StatusError 403, 429. */
async function charge(
  budgets: StoreParts,
  budget: Item,
  { key, request, options }: Eviction,
): Promise<boolean> {
  const transform = (old: Item): ApiObject => {
    const next = cloneAlike(old.object()) as ApiObject;
    takeDisruption(next, key.name, budgets.clock.nowMs());
    return next;
  };
  if (options.dryRun) {
    transform(budget); // throws as the write would
    return true;
  }
  const path = { namespace: key.namespace, name: budget.name, subresource: 'status' };
  const write = { user: serverUser, warnings: [], signal: request.signal, path };
  try {
    await writeTransformed(
      budgets,
      { ...write, options: ownWrite },
      { transform, create: undefined },
    );
    return true;
  } catch (error) {
    if (isOf(error, 'NotFound')) return false;
    throw error;
  }
}

const ownWrite = {
  dryRun: false,
  fieldManager: serverUser.name,
  fieldValidation: 'Strict',
  force: undefined,
} as const;

/** Says in the pod's status why it goes, then deletes it. @throws StatusError 404, 409. */
async function endPod(eviction: Eviction, options: DeleteOptions): Promise<void> {
  const { pods, key, request } = eviction;
  const { user, warnings, signal } = request;
  let { resourceVersion } = options.preconditions;
  if (!options.dryRun) {
    const marked = await changeStored(pods, key, { options, signal }, (item) => {
      checkPreconditions(pods, item, options);
      const pod = cloneAlike(item.object()) as ApiObject;
      setPodCondition(pod, disruptionTarget, pods.clock.nowMs());
      return pod;
    });
    if (resourceVersion !== undefined) resourceVersion = String(marked.revision);
  }
  const preconditions = { ...options.preconditions, resourceVersion };
  const path = { ...key, subresource: '' };
  await deleteObject(pods, {
    user,
    warnings,
    signal,
    path,
    options: { ...options, preconditions },
  });
}

const disruptionTarget = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
} as const;
