// Requests that name a resource: which verb of which store, or the 404 and 405 of paths and methods
// that are none. Those of a group version with a proxy are the proxy's.
import type { ResourceInfo } from '../../api/type-info.ts';
import { BeginAnew } from '../../base/begin-anew.ts';
import { methodNotAllowed, methodNotSupported, notFound, pathNotFound } from '../../base/status.ts';
import type { StatusError } from '../../base/status.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { Subresource, VerbTarget } from '../../registry/verb-target.ts';
import type { NoteDeprecation } from '../deprecations.ts';
import type {
  Filter,
  HttpRequest,
  HttpResponse,
  RequestContext,
  RequestInfo,
} from '../request-context.ts';
import { answerNotServed } from '../not-served.ts';
import type { ServesGroup } from '../not-served.ts';
import { readableOf, writableOf } from '../taken-over.ts';

/** A verb that subresources may have too. */
export type TargetHandler = (
  target: VerbTarget,
  request: HttpRequest,
  response: HttpResponse,
) => Promise<void>;

/** A verb of resources alone. */
export type StoreHandler = (
  store: ResourceStore,
  request: HttpRequest,
  response: HttpResponse,
) => Promise<void>;

export interface TargetHandlers {
  readonly get: TargetHandler;
  readonly create: TargetHandler;
  readonly update: TargetHandler;
  readonly patch: TargetHandler;
}

export interface VerbHandlers extends TargetHandlers {
  /** Any verb of a subresource that takes connections over. */
  readonly connect: (
    handOver: NonNullable<Subresource['connect']>,
    request: HttpRequest,
    response: HttpResponse,
  ) => Promise<void>;
  readonly list: StoreHandler;
  readonly watch: StoreHandler;
  readonly delete: StoreHandler;
  readonly deletecollection: StoreHandler;
}

export function resourceRequests(
  handlers: VerbHandlers,
  noteDeprecation: NoteDeprecation,
  servesGroup: ServesGroup,
): Filter {
  const handle: Filter = (request, response, next) => {
    const { context } = request;
    const { info, store, proxy } = context;
    if (proxy !== undefined) return proxy.serve(readableOf(request), writableOf(response));
    if (info.kind !== 'resource') return next();
    if (store === undefined || isHidden(store, info)) {
      return answerNotServed(request, response, servesGroup);
    }
    checkRest(context);
    if (info.subresource !== '') {
      const target = subresourceOf(context, store.resource);
      noteDeprecation(context, store.resource);
      if (target.connect !== undefined) return handlers.connect(target.connect, request, response);
      return handlers[info.verb as keyof TargetHandlers](target, request, response);
    }
    if (!allows(store.resource.verbs, info)) throw refused(store.resource, info);
    if (!shapeFits(info, store.resource.namespaced)) throw methodNotAllowed();
    noteDeprecation(context, store.resource);
    return handlers[info.verb as Exclude<keyof VerbHandlers, 'connect'>](store, request, response);
  };
  /** What was decided by something that has changed meanwhile is decided anew, by what is now. */
  const handleResource: Filter = (request, response, next) => {
    const { context } = request;
    const toldBefore = context.auditAnnotations?.size ?? 0;
    const answered = handle(request, response, next);
    if (!(answered instanceof Promise)) return answered;
    if (isFinal(context)) return answered;
    return answered.catch(async (error: unknown) => {
      if (!(error instanceof BeginAnew)) throw error;
      await error.renewed(context.signal);
      context.find();
      context.warnings.length = 0;
      forgetAnnotations(context, toldBefore);
      return handleResource(request, response, next);
    });
  };
  return handleResource;
}

/** Those that the filters have told stay. */
function forgetAnnotations({ auditAnnotations }: RequestContext, keptCount: number): void {
  const told = [...(auditAnnotations?.keys() ?? [])];
  for (const key of told.slice(keptCount)) auditAnnotations?.delete(key);
}

/** A path of the other scope, where such paths are not there at all; lists cross namespaces. */
function isHidden(
  { resource }: ResourceStore,
  { verb, isInNamespace, isItem }: RequestInfo,
): boolean {
  if (resource.hidesOtherScope !== true || resource.namespaced === isInNamespace) return false;
  const crosses = !isItem && (verb === 'list' || verb === 'watch');
  return isInNamespace || !crosses;
}

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Nothing else can come of it: reads of what is always there. */
const isFinal = ({ info, subresource, store }: RequestContext): boolean =>
  reads.has(info.verb) && subresource?.connect === undefined && store?.isReplaceable !== true;

/** @throws StatusError 404 where the path goes on behind what it names. */
function checkRest({ info, subresource }: RequestContext): void {
  if (subresource?.takesPath === true) return;
  if (info.rest.some((segment) => segment !== '')) throw pathNotFound();
}

/** What is not declared is 404 here, before anything of the body is read. */
function subresourceOf({ info, subresource }: RequestContext, resource: ResourceInfo): Subresource {
  if (subresource === undefined) {
    throw resource.namesItself === true ? notFound(resource, info.name) : pathNotFound();
  }
  if (!allows(subresource.info.verbs, info)) throw refused(resource, info);
  return subresource;
}

/** Routes of kube-apiserver know methods; what is behind them, and custom resources, know verbs. */
function refused(resource: ResourceInfo, { verb, method }: RequestInfo): StatusError {
  const isWatchOfList = verb === 'watch' && method === 'GET' && resource.verbs.includes('list');
  return resource.namesItself === true || isWatchOfList
    ? methodNotSupported(resource, verb)
    : methodNotAllowed();
}

const allows = (verbs: readonly string[], info: RequestInfo): boolean =>
  info.verb === 'watch' && info.method !== 'GET' ? false : verbs.includes(info.verb);

/**
 * POST and DELETE of a collection need a namespace where objects live in one; POST on an item has
 * no meaning.
 */
function shapeFits(info: RequestInfo, isNamespaced: boolean): boolean {
  switch (info.verb) {
    case 'create':
    case 'deletecollection':
      return !info.isItem && (!isNamespaced || info.isInNamespace);
    case 'update':
    case 'patch':
      return info.isItem;
    default:
      return true;
  }
}
