// Parameters of operations: those of paths, those of queries, and which verb takes which.
import type { FieldInfo, ScalarType, TypeInfo } from '../api/type-info.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'boolean' | 'integer' | 'string';
  readonly description: string;
  /** A 2.0 document holds it once, and operations refer to it. */
  readonly isShared: boolean;
}

const query = (
  name: string,
  type: Parameter['type'],
  description: string,
): readonly [string, Parameter] => {
  const isShared = !inOperations.has(name);
  return [name, { name, in: 'query', type, description, isShared }];
};

/** Clients ask an operation itself whether it has these; some follow no references. */
const inOperations: ReadonlySet<string> = new Set(['dryRun', 'fieldValidation']);

const known: ReadonlyMap<string, Parameter> = new Map([
  query(
    'allowWatchBookmarks',
    'boolean',
    'Lets the server send BOOKMARK events, which say how far the watch has come when nothing ' +
      'that it selects has changed. Ignored unless the request is a watch.',
  ),
  query(
    'continue',
    'string',
    'Token from the metadata of the page before: answers with the page that follows it, from ' +
      'the same state. A token grows too old after some minutes (410); the error may carry one ' +
      'that goes on from the newest state.',
  ),
  query(
    'dryRun',
    'string',
    'With the value `All` every step is taken, admission and validation included, but nothing ' +
      'is stored.',
  ),
  query(
    'fieldManager',
    'string',
    'Name of who makes the change, recorded as owner of the fields it sets: at most 128 ' +
      'printable characters. An apply patch must give it; otherwise it is taken from the start ' +
      'of the User-Agent header.',
  ),
  query(
    'fieldSelector',
    'string',
    'Keeps only objects whose fields match: comma-separated `field=value`, `field==value` or ' +
      '`field!=value`. Each kind supports its own few fields.',
  ),
  query(
    'fieldValidation',
    'string',
    'What happens to unknown and duplicate fields in the body: `Ignore` drops them, `Warn` (the ' +
      'default) drops them and warns, `Strict` refuses the request.',
  ),
  query(
    'force',
    'boolean',
    'For apply patches: take over fields that others own, instead of failing with a conflict.',
  ),
  query(
    'gracePeriodSeconds',
    'integer',
    'Seconds that the object is given to end by itself. Zero deletes at once; left out, the ' +
      'kind’s own default counts.',
  ),
  query(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'Deletes an object that cannot be read back from storage (decoding or decryption fails), ' +
      'without finalizers and preconditions. Dangerous: what the object stood for stays behind. ' +
      'Refused unless the caller may do this and the feature is on.',
  ),
  query(
    'labelSelector',
    'string',
    'Keeps only objects whose labels match: comma-separated `key=value`, `key!=value`, ' +
      '`key in (a,b)`, `key notin (a,b)`, `key` or `!key`.',
  ),
  query(
    'limit',
    'integer',
    'Most items in one answer. When there are more, the list’s metadata holds a continue token ' +
      'for the next page; all pages show one state.',
  ),
  query(
    'orphanDependents',
    'boolean',
    'Old form of propagationPolicy, at most one of the two: true leaves dependents in place.',
  ),
  query(
    'pretty',
    'string',
    'With `true` the answer has line breaks and indentation for people to read.',
  ),
  query(
    'propagationPolicy',
    'string',
    'What happens to dependents: `Orphan` leaves them, `Background` deletes them after the ' +
      'object is gone, `Foreground` deletes them before it.',
  ),
  query(
    'resourceVersion',
    'string',
    'State to answer from. Left out: the newest. `0`: any that the server holds, possibly old. ' +
      'Another value: see resourceVersionMatch; a watch starts right after it.',
  ),
  query(
    'resourceVersionMatch',
    'string',
    'How a list takes resourceVersion: `NotOlderThan` or `Exact`. Must be given only together ' +
      'with a resourceVersion, and with sendInitialEvents.',
  ),
  query(
    'sendInitialEvents',
    'boolean',
    'For a watch: begin with one ADDED event for each present object, then a bookmark annotated ' +
      'as the end of them, then changes. Needs `resourceVersionMatch=NotOlderThan` and bookmarks.',
  ),
  query(
    'shardSelector',
    'string',
    'Keeps only objects whose hash lies in one of the ranges that the text names, as in ' +
      "`shardRange(object.metadata.uid, '0x0', '0x8000000000000000')`, several joined by `||`. " +
      'Without effect unless the feature is on.',
  ),
  query(
    'timeoutSeconds',
    'integer',
    'Longest time a list or watch may take. A watch ends there without an error.',
  ),
  query(
    'watch',
    'boolean',
    'Answers with a stream of changes (ADDED, MODIFIED, DELETED, BOOKMARK, ERROR) instead of a ' +
      'list.',
  ),
]);

const list = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'shardSelector',
  'timeoutSeconds',
  'watch',
];
const write = ['dryRun', 'fieldManager', 'fieldValidation'];
const remove = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
];
const none: readonly string[] = [];

const namesByVerb: Readonly<Record<string, readonly string[]>> = {
  get: none,
  list,
  watch: list,
  create: write,
  update: write,
  patch: [...write, 'force'],
  delete: remove,
  deletecollection: [
    ...remove,
    ...list.filter((name) => name !== 'watch' && name !== 'allowWatchBookmarks'),
  ].sort(),
};

const named = (name: string): Parameter => {
  const parameter = known.get(name);
  if (parameter === undefined) throw new Error(`there is no parameter ${name}`);
  return parameter;
};

const byVerb = new Map(
  Object.entries(namesByVerb).map(([verb, names]) => [verb, names.map(named)]),
);

/** Query parameters of a verb, without `pretty`. */
export const parametersOf = (verb: string): readonly Parameter[] => byVerb.get(verb) ?? [];

export const prettyParameter = named('pretty');

export const sharedParameters: readonly Parameter[] = [...known.values()].filter(
  ({ isShared }) => isShared,
);

export const namespaceParameter: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'Namespace that the objects are in: each team or project has names of its own.',
  isShared: true,
};

export const restParameter: Parameter = {
  name: 'path',
  in: 'path',
  type: 'string',
  description: 'Address below the target that the request is passed on to.',
  isShared: true,
};

export const nameParameter = (kind: string): Parameter => ({
  name: 'name',
  in: 'path',
  type: 'string',
  description: `name of the ${kind}`,
  isShared: false,
});

const typeOfScalar: Readonly<Partial<Record<ScalarType, Parameter['type']>>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
};

/** The fields of an options type are given in the query, under their own names. */
export function parametersOfType(type: TypeInfo): readonly Parameter[] {
  return type.fields.flatMap((field: FieldInfo) => {
    const isTime = field.message?.special === 'time';
    const shape = field.scalar === undefined ? undefined : typeOfScalar[field.scalar];
    if (shape === undefined && !isTime) return [];
    return [
      {
        name: field.jsonName,
        in: 'query',
        type: shape ?? 'string',
        description: field.description ?? `${field.jsonName} of ${type.name}`,
        isShared: false,
      },
    ];
  });
}
