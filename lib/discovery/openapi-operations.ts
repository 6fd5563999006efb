// What can be asked for under which path, before it is written as OpenAPI 2.0 or 3.0.
// Everything follows from the resource records: verbs, scope, subresources and their kinds.
import type { Scheme } from '../api/scheme.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type {
  GroupVersionKind,
  ResourceInfo,
  SubresourceInfo,
  TypeInfo,
} from '../api/type-info.ts';
import { modelName, publishedKind } from './openapi-models.ts';
import { operationGroup, subjectOf, tagOf } from './openapi-names.ts';
import {
  nameParameter,
  namespaceParameter,
  parametersOf,
  parametersOfType,
  prettyParameter,
  restParameter,
} from './openapi-parameters.ts';
import type { Parameter } from './openapi-parameters.ts';
import type { Referred } from './openapi-schemas.ts';

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

export interface Operation {
  readonly method: Method;
  readonly id: string;
  readonly description: string;
  readonly tag: string;
  readonly action: string | undefined;
  readonly kind: GroupVersionKind | undefined;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly type: Referred; readonly required: boolean } | undefined;
  /** `patch`: the patch types; `connect`: whatever the target takes and gives. */
  readonly media: 'object' | 'list' | 'patch' | 'connect' | 'text';
  /** The type of a successful answer; undefined: text. */
  readonly answer: Referred | undefined;
  readonly codes: readonly number[];
}

export interface PathItem {
  readonly path: string;
  /** Of all operations of the path. */
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

export interface OperationContext {
  readonly scheme: Scheme;
  /** Kinds that a DELETE answers with, as they were; the others answer with a Status. */
  readonly answersDeletedObject: (resource: ResourceInfo) => boolean;
}

const methods: Readonly<Record<string, Method>> = {
  get: 'get',
  list: 'get',
  watch: 'get',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
};
const words: Readonly<Record<string, string>> = {
  get: 'read',
  create: 'create',
  update: 'replace',
  patch: 'patch',
  delete: 'delete',
  list: 'list',
};
const codes: Readonly<Record<string, readonly number[]>> = {
  create: [200, 201, 202],
  update: [200, 201],
  patch: [200, 201],
  delete: [200, 202],
};
const actions: Readonly<Record<string, string>> = { create: 'post', update: 'put' };
/** Subresources that answer with text: their query is what this type says. */
const textSubresources: Readonly<Record<string, string>> = { 'pods/log': 'core/v1.PodLogOptions' };

/** Paths of one resource: collection, item, subresources, and the old paths of watches. */
export function resourcePaths(context: OperationContext, resource: ResourceInfo): PathItem[] {
  const root = rootOf(resource);
  const base = resource.namespaced ? `${root}/namespaces/{namespace}` : root;
  const collection = `${base}/${resource.resource}`;
  const scope = resource.namespaced ? [namespaceParameter] : [];
  const item = [nameParameter(resource.kind.kind), ...scope];
  const paths = [
    pathItem(collection, [...scope, prettyParameter], collectionOperations(context, resource)),
    pathItem(
      `${collection}/{name}`,
      [...item, prettyParameter],
      operationsOf(context, resource, ['delete', 'get', 'patch', 'update']),
    ),
    ...resource.subresources.flatMap((one) =>
      subresourcePaths(context, resource, one, `${collection}/{name}/${one.name}`, item),
    ),
  ];
  if (resource.namespaced && resource.verbs.includes('list')) {
    const everywhere = listOperation(context, resource, true);
    paths.push(pathItem(`${root}/${resource.resource}`, [prettyParameter], [everywhere]));
  }
  if (resource.verbs.includes('watch') && isBuiltIn(context, resource)) {
    paths.push(...watchPaths(context, resource, root));
  }
  return paths.filter(({ operations }) => operations.length > 0);
}

export const rootOf = (of: { readonly group: string; readonly version: string }): string =>
  of.group === '' ? `/api/${of.version}` : `/apis/${apiVersionOf(of)}`;

const isBuiltIn = ({ scheme }: OperationContext, resource: ResourceInfo): boolean =>
  publishedKind(scheme, resource) === undefined;

const pathItem = (
  path: string,
  parameters: readonly Parameter[],
  operations: readonly Operation[],
): PathItem => ({ path, parameters, operations });

function collectionOperations(context: OperationContext, resource: ResourceInfo): Operation[] {
  const { verbs } = resource;
  const operations = operationsOf(context, resource, ['create']);
  if (verbs.includes('list')) operations.push(listOperation(context, resource, false));
  if (verbs.includes('deletecollection')) {
    operations.push({
      ...common(context, resource, 'deletecollection'),
      id: `delete${groupOf(context, resource)}Collection${subjectOf(resource)}`,
      description: `delete collection of ${resource.kind.kind}`,
      body: deleteBody(context),
      answer: context.scheme.type('meta/v1.Status'),
      codes: [200],
    });
  }
  return operations;
}

const groupOf = ({ scheme }: OperationContext, { group, version }: ResourceInfo): string =>
  operationGroup(scheme, group, version);

const deleteBody = ({ scheme }: OperationContext): Operation['body'] => ({
  type: scheme.type('meta/v1.DeleteOptions'),
  required: false,
});

function common(
  { scheme }: OperationContext,
  resource: ResourceInfo,
  verb: string,
): Omit<Operation, 'id' | 'description' | 'answer'> {
  return {
    method: methods[verb] ?? 'get',
    tag: tagOf(scheme, resource.group, resource.version),
    action: actions[verb] ?? verb,
    kind: resource.kind,
    parameters: parametersOf(verb),
    body: undefined,
    media: 'object',
    codes: codes[verb] ?? [200],
  };
}

function listOperation(
  context: OperationContext,
  resource: ResourceInfo,
  everywhere: boolean,
): Operation {
  const { kind } = resource.kind;
  const listType = isBuiltIn(context, resource)
    ? context.scheme.listType(resource)
    : { model: modelName({ ...resource.kind, kind: resource.listKind }) };
  return {
    ...common(context, resource, 'list'),
    id: everywhere
      ? `list${groupOf(context, resource)}${kind}ForAllNamespaces`
      : `list${groupOf(context, resource)}${subjectOf(resource)}`,
    description: `list or watch objects of kind ${kind}`,
    media: 'list',
    answer: listType ?? context.scheme.type('meta/v1.List'),
  };
}

/** Operations on one object, or on a subresource of it. */
function operationsOf(
  context: OperationContext,
  resource: ResourceInfo,
  wanted: readonly string[],
  subresource?: SubresourceInfo,
): Operation[] {
  const { scheme } = context;
  const verbs: readonly string[] = subresource?.verbs ?? resource.verbs;
  const ownKind = subresource?.kind ?? resource.kind;
  const type = typeOf(context, resource, ownKind);
  if (type === undefined) return [];
  // What clients may send to a kind is looked up by the kind, for its subresources too.
  const kind = isBuiltIn(context, resource) ? ownKind : resource.kind;
  const status = scheme.type('meta/v1.Status');
  const about = `${groupOf(context, resource)}${subjectOf(resource, subresource?.name)}`;
  const target = subresource === undefined ? resource.kind.kind : aboutOf(resource, subresource);
  return wanted
    .filter((verb) => verbs.includes(verb))
    .map((verb) => ({
      ...common(context, resource, verb),
      kind,
      id: `${words[verb] ?? verb}${about}`,
      description: describe(verb, target),
      body: bodyOf(context, verb, type),
      media: verb === 'patch' ? 'patch' : 'object',
      answer: verb === 'delete' && !context.answersDeletedObject(resource) ? status : type,
    }));
}

function typeOf(
  context: OperationContext,
  resource: ResourceInfo,
  kind: GroupVersionKind,
): Referred | undefined {
  const isOwn = kind.kind === resource.kind.kind && kind.group === resource.kind.group;
  return isOwn && !isBuiltIn(context, resource)
    ? { model: modelName(resource.kind) }
    : context.scheme.kind(kind);
}

const aboutOf = ({ kind }: ResourceInfo, { name }: SubresourceInfo): string =>
  `${name} of the given ${kind.kind}`;

function describe(verb: string, target: string): string {
  switch (verb) {
    case 'create':
      return `create ${target}`;
    case 'update':
      return `replace ${target}`;
    case 'patch':
      return `change parts of ${target}`;
    case 'delete':
      return `delete ${target}`;
    default:
      return `read ${target}`;
  }
}

function bodyOf(context: OperationContext, verb: string, type: Referred): Operation['body'] {
  if (verb === 'create' || verb === 'update') return { type, required: true };
  if (verb === 'patch') return { type: context.scheme.type('meta/v1.Patch'), required: true };
  return verb === 'delete' ? deleteBody(context) : undefined;
}

function subresourcePaths(
  context: OperationContext,
  resource: ResourceInfo,
  subresource: SubresourceInfo,
  path: string,
  item: readonly Parameter[],
): PathItem[] {
  const textOptions = textSubresources[`${resource.resource}/${subresource.name}`];
  if (textOptions !== undefined) {
    const log = operationsOf(context, resource, ['get'], subresource).map((operation) => ({
      ...operation,
      parameters: parametersOfType(context.scheme.type(textOptions)),
      media: 'text' as const,
      answer: undefined,
    }));
    return [pathItem(path, [...item, prettyParameter], log)];
  }
  if (!subresource.kind.kind.endsWith('Options')) {
    const wanted = ['create', 'delete', 'get', 'patch', 'update'];
    const operations = operationsOf(context, resource, wanted, subresource);
    return [pathItem(path, [...item, prettyParameter], operations)];
  }
  const connect = (suffix: string): Operation[] =>
    connectOperations(context, resource, subresource, suffix);
  const takesPath = subresource.name === 'proxy';
  return [
    pathItem(path, item, connect('')),
    ...(takesPath
      ? [pathItem(`${path}/{path}`, [...item, restParameter], connect('WithPath'))]
      : []),
  ];
}

/** A connection is passed on to its target with whatever method it was made. */
function connectOperations(
  context: OperationContext,
  resource: ResourceInfo,
  subresource: SubresourceInfo,
  suffix: string,
): Operation[] {
  const type = context.scheme.kind(subresource.kind);
  if (type === undefined) return [];
  const named: readonly string[] = subresource.verbs;
  const wanted = named
    .map((verb) => methods[verb])
    .filter((method): method is Method => method !== undefined);
  const all: readonly Method[] = named.includes('patch') ? [...wanted, 'head', 'options'] : wanted;
  const group = groupOf(context, resource);
  const subject = subjectOf(resource, subresource.name);
  const title = (method: Method): string => method.charAt(0).toUpperCase() + method.slice(1);
  return all.map((method) => ({
    ...common(context, resource, 'get'),
    method,
    id: `connect${group}${title(method)}${subject}${suffix}`,
    description: `connect ${method.toUpperCase()} requests to ${aboutOf(resource, subresource)}`,
    action: 'connect',
    kind: subresource.kind,
    parameters: parametersOfType(type),
    media: 'connect',
    answer: undefined,
  }));
}

function watchPaths(context: OperationContext, resource: ResourceInfo, root: string): PathItem[] {
  const { kind, resource: plural, namespaced } = resource;
  const query = [...parametersOf('watch'), prettyParameter];
  const operation = (id: string, action: string, what: string): Operation => ({
    ...common(context, resource, 'watch'),
    id: `watch${groupOf(context, resource)}${id}`,
    description: `watch ${what} of kind ${kind.kind}; deprecated: list with the parameter watch`,
    action,
    parameters: [],
    media: 'list',
    answer: context.scheme.type('meta/v1.WatchEvent'),
  });
  const one = operation(subjectOf(resource), 'watch', 'one object');
  const all = operation(`${subjectOf(resource)}List`, 'watchlist', 'objects');
  const base = namespaced ? `${root}/watch/namespaces/{namespace}` : `${root}/watch`;
  const scope = namespaced ? [namespaceParameter] : [];
  const name = nameParameter(kind.kind);
  const paths = [
    pathItem(`${base}/${plural}`, [...scope, ...query], [all]),
    pathItem(`${base}/${plural}/{name}`, [name, ...scope, ...query], [one]),
  ];
  if (!namespaced) return paths;
  const everywhere = operation(`${kind.kind}ListForAllNamespaces`, 'watchlist', 'objects');
  return [pathItem(`${root}/watch/${plural}`, query, [everywhere]), ...paths];
}

/** A GET of a document that says what is served. */
export function documentPath(options: {
  readonly path: string;
  readonly id: string;
  readonly description: string;
  readonly tag: string;
  readonly answer: TypeInfo;
}): PathItem {
  const { path, id, description, tag, answer } = options;
  const operation: Operation = {
    method: 'get',
    id,
    description,
    tag,
    action: undefined,
    kind: undefined,
    parameters: [],
    body: undefined,
    media: 'object',
    answer,
    codes: [200],
  };
  return { path, parameters: [], operations: [operation] };
}
