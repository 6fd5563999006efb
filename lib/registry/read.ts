// get, list and watch: options to a selection and a read mode, the view's answer to the version of
// the request. Continue tokens are made and read here. Nothing here touches etcd: the view decides
// where bytes come from.
import { comparedText, storedRequirement } from '../api/selectable-fields.ts';
import {
  labelPredicate,
  parseFieldSelector,
  parseLabelRequirements,
  parseLabelSelector,
} from '../api/selector.ts';
import { badRequest, expiredContinue, notFound, StatusError } from '../base/status.ts';
import type { Item, ListPage, ListResult, ReadAt, Selection } from '../cacher/resource-view.ts';
import { makeContinueToken, readContinueToken } from './continue-token.ts';
import type { ContinuePosition, TokenScope } from './continue-token.ts';
import { throwInvalid } from './options.ts';
import {
  checkVersionWithToken,
  listErrors,
  readAtOfGet,
  readAtOfList,
  startOfWatch,
  watchErrors,
} from './read-mode.ts';
import type { GetRequest, ListAnswer, ListOptions, ListRequest, WatchAnswer } from './requests.ts';
import { selectEvents, selectPage } from './served-selection.ts';
import type { ServedSelection } from './served-selection.ts';
import { itemKeyOf } from './store-parts.ts';
import type { StoreParts } from './store-parts.ts';

export async function getObject(parts: StoreParts, request: GetRequest): Promise<Item> {
  const at = readAtOfGet(request.options.resourceVersion);
  const item = await parts.view.get(itemKeyOf(parts, request.path), at, request.signal);
  parts.life?.requireThere();
  if (item === undefined) throw notFound(parts.resource, request.path.name);
  return item;
}

export async function listObjects(parts: StoreParts, request: ListRequest): Promise<ListAnswer> {
  const { options } = request;
  const select = selectionOf(parts, request);
  throwInvalid('ListOptions', listErrors(options), parts.naming);
  const scope = tokenScopeOf(parts, request);
  const position = positionOf(parts, options, scope);
  const at = position === undefined ? readAtOfList(options) : readAtOfPosition(position);
  const page = {
    limitCount: Math.max(options.limit, 0),
    ...(position === undefined ? {} : { after: position.after }),
  };
  const result = await pageOf(parts, request, select, at, page).catch((error: unknown) => {
    throw position === undefined ? error : withNewToken(error, position, scope, parts);
  });
  parts.life?.requireThere();
  return {
    items: result.items,
    revision: result.revision,
    continueToken: nextToken(result, scope, parts),
    remainingItemCount: result.more ? remainingOf(result, options) : undefined,
  };
}

export async function watchObjects(parts: StoreParts, request: ListRequest): Promise<WatchAnswer> {
  const { options, signal } = request;
  const select = selectionOf(parts, request);
  const served = servedSelectionOf(parts, request);
  throwInvalid('ListOptions', watchErrors(options, parts.canStreamLists), parts.naming);
  const asked = startOfWatch(options);
  const start =
    asked === 'now'
      ? { from: 'revision' as const, revision: await currentRevision(parts, signal) }
      : asked;
  const bookmarks = options.allowWatchBookmarks;
  const cursor = await parts.view.watch(select, start, { bookmarks }, signal);
  // It was opened too late to be ended with the others.
  if (parts.life?.isOver === true) cursor.close();
  return {
    cursor: served === undefined ? cursor : selectEvents(cursor, served),
    timeoutSeconds: options.timeoutSeconds,
    allowBookmarks: options.allowWatchBookmarks,
  };
}

/**
 * What the view judges.
 * @throws StatusError 400 for selectors that cannot be read, name fields that are not selectable or
 * other objects than the one asked for.
 */
function selectionOf(parts: StoreParts, request: ListRequest): Selection {
  const { labelSelector, fieldSelector } = request.options;
  const { resource, conversion } = parts;
  const wantedTerms = parseLabelRequirements(labelSelector);
  const labelTerms = conversion?.selectsStoredLabels === false ? [] : wantedTerms;
  const labels = labelPredicate(labelTerms);
  const wanted = parseFieldSelector(fieldSelector, resource);
  const fields = wanted
    .filter(({ path }) => conversion?.selectsStored(path) !== false)
    .map((field) => storedRequirement(field, parts));
  const exact = (path: string): string | undefined =>
    fields.find((field) => field.path === path && field.operator === '=')?.value;
  const asked = resource.namespaced ? request.namespace : '';
  const namespace = asked === '' ? exact('metadata.namespace') : asked;
  const selected = exact('metadata.name');
  if (request.name !== '' && fields.length > 0 && selected !== request.name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  const name = request.name === '' ? selected : request.name;
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(labels === undefined ? {} : { labels, labelTerms }),
    ...(fields.length === 0 ? {} : { fields }),
    ...(request.showsUnreadable === true ? { showsUnreadable: true } : {}),
  };
}

/** Selectors that are evaluated after the conversion; undefined: none. */
function servedSelectionOf(parts: StoreParts, request: ListRequest): ServedSelection | undefined {
  const { resource, conversion } = parts;
  if (conversion === undefined) return undefined;
  const fields = parseFieldSelector(request.options.fieldSelector, resource)
    .filter(({ path }) => !conversion.selectsStored(path))
    .map((field) => ({ ...field, value: comparedText(field.value) }));
  const labels = conversion.selectsStoredLabels
    ? undefined
    : parseLabelSelector(request.options.labelSelector);
  if (fields.length === 0 && labels === undefined) return undefined;
  return { conversion, fields, ...(labels === undefined ? {} : { labels }) };
}

/** Pages are cut after the conversion where selectors are evaluated after it. */
function pageOf(
  parts: StoreParts,
  request: ListRequest,
  select: Selection,
  at: ReadAt,
  page: ListPage,
): Promise<ListResult> {
  const { signal } = request;
  const served = servedSelectionOf(parts, request);
  if (served === undefined) return parts.view.list(select, at, page, signal);
  const everything = parts.view.list(select, at, { ...page, limitCount: 0 }, signal);
  return everything.then((result) => selectPage(result, page, served, signal));
}

/** One object is enough: the answer's revision is what counts. */
async function currentRevision(parts: StoreParts, signal: AbortSignal): Promise<number> {
  const page = { limitCount: 1 };
  const anything = { showsUnreadable: true };
  return (await parts.view.list(anything, { mode: 'latest' }, page, signal)).revision;
}

function tokenScopeOf(parts: StoreParts, request: ListRequest): TokenScope {
  const { group, resource } = parts.resource;
  const { labelSelector, fieldSelector } = request.options;
  return { group, resource, namespace: request.namespace, labelSelector, fieldSelector };
}

function positionOf(
  parts: StoreParts,
  options: ListOptions,
  scope: TokenScope,
): ContinuePosition | undefined {
  if (options.continueToken === '') return undefined;
  checkVersionWithToken(options);
  return readContinueToken(options.continueToken, scope, parts.continueKey);
}

const readAtOfPosition = ({ at }: ContinuePosition): ReadAt =>
  at === undefined ? { mode: 'latest' } : { mode: 'exact', ...at };

function nextToken(result: ListResult, scope: TokenScope, parts: StoreParts): string {
  const last = result.items.at(-1);
  if (!result.more || last === undefined) return '';
  const after = { namespace: last.namespace, name: last.name };
  const { revision, history } = result;
  return makeContinueToken({ at: { revision, history }, after }, scope, parts.continueKey);
}

/** Selectors hide the number: counting would mean to look at every object. */
const remainingOf = (result: ListResult, options: ListOptions): number | undefined =>
  options.labelSelector === '' && options.fieldSelector === '' ? result.remainingCount : undefined;

/** The 410 of an expired token carries one that reads the rest at the then current version. */
function withNewToken(
  error: unknown,
  position: ContinuePosition,
  scope: TokenScope,
  parts: StoreParts,
): unknown {
  if (!(error instanceof StatusError) || error.code !== 410) return error;
  const next = { at: undefined, after: position.after };
  return expiredContinue(makeContinueToken(next, scope, parts.continueKey));
}
