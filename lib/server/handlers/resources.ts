// Requests that name a resource: which verb of which store, or the 404 and 405 of paths and methods
// that are none. Those of a group version with a proxy are the proxy's.
import { methodNotAllowed, pathNotFound } from '../../base/status.ts';
import { StoreReplaced } from '../../registry/store-replaced.ts';
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
    if (proxy !== undefined) return proxy.serve(request, response);
    if (info.kind !== 'resource') return next();
    if (store === undefined) return answerNotServed(request, response, servesGroup);
    checkRest(context);
    if (info.subresource !== '') {
      const target = subresourceOf(context);
      noteDeprecation(context, store.resource);
      if (target.connect !== undefined) return handlers.connect(target.connect, request, response);
      return handlers[info.verb as keyof TargetHandlers](target, request, response);
    }
    if (!allows(store.resource.verbs, info) || !shapeFits(info, store.resource.namespaced)) {
      throw methodNotAllowed();
    }
    noteDeprecation(context, store.resource);
    return handlers[info.verb as Exclude<keyof VerbHandlers, 'connect'>](store, request, response);
  };
  /** A write whose store was replaced meanwhile begins anew on what has its place. */
  const handleResource: Filter = (request, response, next) => {
    const { context } = request;
    const answered = handle(request, response, next);
    if (reads.has(context.info.verb) || !(answered instanceof Promise)) return answered;
    return answered.catch(async (error: unknown) => {
      if (!(error instanceof StoreReplaced)) throw error;
      await error.renewed(context.signal);
      context.find();
      context.warnings.length = 0;
      return handleResource(request, response, next);
    });
  };
  return handleResource;
}

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** @throws StatusError 404 where the path goes on behind what it names. */
function checkRest({ info, subresource }: RequestContext): void {
  if (subresource?.takesPath === true) return;
  if (info.rest.some((segment) => segment !== '')) throw pathNotFound();
}

/** What is not declared is 404 here, before anything of the body is read. */
function subresourceOf({ info, subresource }: RequestContext): Subresource {
  if (subresource === undefined) throw pathNotFound();
  if (!allows(subresource.info.verbs, info)) throw methodNotAllowed();
  return subresource;
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
