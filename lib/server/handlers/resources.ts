// Requests that name a resource: which verb of which store, or the 404 and 405 of paths and methods
// that are none.
import { badRequest, methodNotAllowed, pathNotFound } from '../../base/status.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { NoteDeprecation } from '../deprecations.ts';
import type { FindStore } from '../filters/scope.ts';
import type { Filter, HttpRequest, HttpResponse, RequestInfo } from '../request-context.ts';

export type VerbHandler = (
  store: ResourceStore,
  request: HttpRequest,
  response: HttpResponse,
) => Promise<void>;

export interface VerbHandlers {
  readonly get: VerbHandler;
  readonly list: VerbHandler;
  readonly watch: VerbHandler;
  readonly create: VerbHandler;
  readonly update: VerbHandler;
  readonly patch: VerbHandler;
  readonly delete: VerbHandler;
  readonly deletecollection: VerbHandler;
}

export function resourceRequests(
  findStore: FindStore,
  handlers: VerbHandlers,
  noteDeprecation: NoteDeprecation,
): Filter {
  return function handleResource(request, response, next) {
    const { info } = request.context;
    if (info.kind !== 'resource') {
      next();
      return;
    }
    const store = findStore(info);
    if (store === undefined) throw pathNotFound();
    const handler = handlerOf(info, store, handlers);
    noteDeprecation(request.context, store.resource);
    return handler(store, request, response);
  };
}

function handlerOf(info: RequestInfo, store: ResourceStore, handlers: VerbHandlers): VerbHandler {
  const { resource } = store;
  if (info.isItem && info.name === '') {
    if (info.verb === 'get') throw badRequest('resource name may not be empty');
    throw methodNotAllowed();
  }
  const endsWithSlash = info.isItem && info.path.endsWith('/');
  if (endsWithSlash || info.rest.length > 0) throw pathNotFound();
  if (info.subresource === '') {
    if (!allows(resource.verbs, info) || !shapeFits(info, resource.namespaced)) {
      throw methodNotAllowed();
    }
  } else {
    const subresource = store.subresources.find((one) => one.name === info.subresource);
    if (subresource === undefined) throw pathNotFound();
    if (!allows(subresource.verbs, info)) throw methodNotAllowed();
  }
  return handlers[info.verb as keyof VerbHandlers];
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
