// Which version a read is served at: the specification's tables for get, list and watch, as tables.
// Combinations that the specification calls invalid are found before the tables are asked.
import { badRequest } from '../base/status.ts';
import type { FieldError } from '../base/status.ts';
import type { ReadAt, WatchStart } from '../cacher/resource-view.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import { forbiddenField, notSupported } from './options.ts';
import type { ListOptions } from './requests.ts';

type VersionForm = 'unset' | 'zero' | 'set';
type Match = '' | 'Exact' | 'NotOlderThan';
type Paging = 'none' | 'limit';
type Mode = ReadAt['mode'] | 'invalid';

const getTable: Readonly<Record<VersionForm, ReadAt['mode']>> = {
  unset: 'latest',
  zero: 'any',
  set: 'notOlderThan',
};

/** Lists without a continue token; with one, the token says the version (specification 1, list). */
const listTable: Readonly<
  Record<Match, Readonly<Record<Paging, Readonly<Record<VersionForm, Mode>>>>>
> = {
  '': {
    none: { unset: 'latest', zero: 'any', set: 'notOlderThan' },
    limit: { unset: 'latest', zero: 'any', set: 'exact' },
  },
  Exact: {
    none: { unset: 'invalid', zero: 'invalid', set: 'exact' },
    limit: { unset: 'invalid', zero: 'invalid', set: 'exact' },
  },
  NotOlderThan: {
    none: { unset: 'invalid', zero: 'any', set: 'notOlderThan' },
    limit: { unset: 'invalid', zero: 'any', set: 'notOlderThan' },
  },
};

const matches: readonly string[] = ['Exact', 'NotOlderThan'];

/** @throws StatusError 400 for a malformed resourceVersion. */
export function readAtOfGet(resourceVersion: string): ReadAt {
  const revision = parseResourceVersion(resourceVersion);
  return readAt(getTable[formOf(revision)], revision);
}

/** For lists without continue token whose options have no errors. @throws StatusError 400. */
export function readAtOfList(options: ListOptions): ReadAt {
  const revision = parseResourceVersion(options.resourceVersion);
  const row = listTable[options.resourceVersionMatch as Match];
  const mode = row[options.limit > 0 ? 'limit' : 'none'][formOf(revision)];
  // listErrors refused these; a hole in it must not become a read at a wrong version.
  if (mode === 'invalid') throw badRequest('resourceVersionMatch does not fit resourceVersion');
  return readAt(mode, revision);
}

/**
 * With a continue token: a version of 0 is ignored, any other is refused. @throws StatusError 400.
 */
export function checkVersionWithToken(options: ListOptions): void {
  if (formOf(parseResourceVersion(options.resourceVersion)) === 'set') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
}

/**
 * Where a watch starts; `now`: changes only, after the most recent state. @throws StatusError 400.
 */
export function startOfWatch(options: ListOptions): WatchStart | 'now' {
  const revision = parseResourceVersion(options.resourceVersion);
  const form = formOf(revision);
  if (options.sendInitialEvents === true) {
    const at = readAt(getTable[form], revision);
    return { from: 'state', at, bookmark: options.allowWatchBookmarks };
  }
  if (revision !== undefined && revision !== 0) return { from: 'revision', revision };
  if (options.sendInitialEvents === false) return 'now';
  return { from: 'state', at: readAt(getTable[form], revision), bookmark: false };
}

/** Combinations of a list that are not allowed, as causes of a 422. */
export function listErrors(options: ListOptions): FieldError[] {
  const match = options.resourceVersionMatch;
  const errors: FieldError[] = [];
  if (options.sendInitialEvents !== undefined) {
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (match === '') return errors;
  if (options.resourceVersion === '') errors.push(matchError('unless resourceVersion is provided'));
  if (options.continueToken !== '') errors.push(matchError('when continue is provided'));
  if (!matches.includes(match)) {
    errors.push(notSupported('resourceVersionMatch', match, [...matches, '']));
  }
  if (match === 'Exact' && options.resourceVersion === '0') {
    const detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"';
    errors.push(forbiddenField('resourceVersionMatch', detail));
  }
  return errors;
}

/** The same for a watch; `canStreamLists` is the WatchList gate. */
export function watchErrors(options: ListOptions, canStreamLists: boolean): FieldError[] {
  const match = options.resourceVersionMatch;
  const errors: FieldError[] = [];
  if (options.sendInitialEvents !== undefined) {
    if (match !== 'NotOlderThan') {
      const detail = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
      errors.push(forbiddenField('resourceVersionMatch', detail));
    }
    if (!canStreamLists) {
      const detail = 'sendInitialEvents needs the feature gate WatchList';
      errors.push(forbiddenField('sendInitialEvents', detail));
    }
  }
  if (match === '') return errors;
  if (options.sendInitialEvents === undefined) {
    errors.push(matchError('for watch unless sendInitialEvents is provided'));
  }
  if (match !== 'NotOlderThan') {
    errors.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']));
  }
  if (options.continueToken !== '') errors.push(matchError('when continue is provided'));
  return errors;
}

/** undefined: unset. @throws StatusError 400. */
export function parseResourceVersion(text: string): Revision | undefined {
  if (text === '') return undefined;
  const revision = /^\d{1,19}$/.test(text) ? Number(text) : NaN;
  if (Number.isNaN(revision)) {
    const shown = JSON.stringify(text);
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${shown}: ` +
        'must be a version that the server gave out',
    );
  }
  return revision;
}

const matchError = (rest: string): FieldError =>
  forbiddenField('resourceVersionMatch', `resourceVersionMatch is forbidden ${rest}`);

const formOf = (revision: Revision | undefined): VersionForm =>
  revision === undefined ? 'unset' : revision === 0 ? 'zero' : 'set';

function readAt(mode: ReadAt['mode'], revision: Revision | undefined): ReadAt {
  return mode === 'any' || mode === 'latest' ? { mode } : { mode, revision: revision ?? 0 };
}
