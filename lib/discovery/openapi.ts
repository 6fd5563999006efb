// OpenAPI of everything that is served: one 2.0 document, and per path of 3.0 one document with its
// hash. Made on first use, kept, and the same bytes on every replica; HTTP is the server's.
// When groups change, the documents of the others stay; built from TypeInfo alone.
import type { Scheme } from '../api/scheme.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import type { DiscoveryGroup, DiscoveryVersion } from './discovery.ts';
import { groupWords, operationGroup, tagOf } from './openapi-names.ts';
import { hashed, jsonDocument, protobufDocument } from './openapi-document.ts';
import type { DocumentSource, HashedBytes } from './openapi-document.ts';
import { documentPath, resourcePaths, rootOf } from './openapi-operations.ts';
import type { PathItem } from './openapi-operations.ts';
import { sharedParameters, namespaceParameter, restParameter } from './openapi-parameters.ts';
import { parameterObject } from './openapi-paths.ts';
import type { OpenApiMedia } from './openapi-paths.ts';
import { Definitions } from './openapi-schemas.ts';
import type { GroupVersion, OpenApiVersion } from './openapi-schemas.ts';

export type OpenApiForm = 'json' | 'protobuf';

/** The hash is that of the JSON form, whichever form the bytes are in. */
export type OpenApiDocument = HashedBytes;

export interface OpenApi {
  /** The 2.0 document. */
  whole(form: OpenApiForm): Promise<OpenApiDocument>;
  /** The list of 3.0 documents with their addresses. */
  index(): Promise<OpenApiDocument>;
  /** The 3.0 document of a path such as `apis/apps/v1`; undefined: there is none. */
  part(path: string, form: OpenApiForm): Promise<OpenApiDocument | undefined>;
  /** Where the document of that path and hash is. */
  addressOf(path: string, hash: string): string;
}

export interface OpenApiOptions {
  readonly scheme: Scheme;
  /** In discovery order, the core group (named '') among them; the same list until they change. */
  readonly groups: () => readonly DiscoveryGroup[];
  readonly media: OpenApiMedia;
  /** Gate OpenAPIEnums: fields list the values that they can have. */
  readonly listsValues: boolean;
  /** Version of the server, as `/version` says it. */
  readonly serverVersion: string;
  readonly answersDeletedObject: (resource: ResourceInfo) => boolean;
}

/** One document in its forms, each made when somebody asks for it. */
interface Part {
  /** What it was made of: the same as the last time, then so is the document. */
  readonly of: object;
  readonly items: readonly PathItem[];
  readonly made: Map<OpenApiForm, Promise<OpenApiDocument>>;
}

/** All documents of one state of the groups. */
interface Documents {
  readonly groups: readonly DiscoveryGroup[];
  /** What the types that every version knows name. */
  readonly groupVersions: readonly GroupVersion[];
  /** 3.0 documents by path. */
  readonly parts: ReadonlyMap<string, Part>;
  readonly whole: Part;
  index: Promise<OpenApiDocument> | undefined;
}

export function createOpenApi(options: OpenApiOptions): OpenApi {
  let last: Documents | undefined;
  const current = (): Documents => {
    const groups = options.groups();
    if (last?.groups !== groups) last = documentsOf(options, groups, last);
    return last;
  };
  const formOf = (of: Documents, part: Part, form: OpenApiForm): Promise<OpenApiDocument> => {
    const present = part.made.get(form);
    if (present !== undefined) return present;
    const source = (): DocumentSource =>
      sourceOf(options, part === of.whole ? 'v2' : 'v3', of.groupVersions, part.items);
    const document =
      form === 'json' ? jsonDocument(source()) : protobufForm(formOf(of, part, 'json'), source);
    part.made.set(form, document);
    return document;
  };
  return {
    whole(form) {
      const documents = current();
      return formOf(documents, documents.whole, form);
    },
    index() {
      const documents = current();
      return (documents.index ??= indexOf(documents, (part) => formOf(documents, part, 'json')));
    },
    async part(path, form) {
      const documents = current();
      const part = documents.parts.get(path);
      return part === undefined ? undefined : formOf(documents, part, form);
    },
    addressOf,
  };
}

async function protobufForm(
  json: Promise<OpenApiDocument>,
  source: () => DocumentSource,
): Promise<OpenApiDocument> {
  const { hash } = await json;
  return { bytes: await protobufDocument(source()), hash };
}

async function indexOf(
  { parts }: Documents,
  jsonOf: (part: Part) => Promise<OpenApiDocument>,
): Promise<OpenApiDocument> {
  const paths: JsonObject = {};
  for (const [path, part] of [...parts].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const { hash } = await jsonOf(part);
    paths[path] = { serverRelativeURL: addressOf(path, hash) };
  }
  return hashed([Buffer.from(`${JSON.stringify({ paths })}\n`)]);
}

/** Documents of groups and versions that are the same as the last time are kept. */
function documentsOf(
  options: OpenApiOptions,
  groups: readonly DiscoveryGroup[],
  last: Documents | undefined,
): Documents {
  const groupVersions = knownVersions(options.scheme, groups);
  const isSameList = JSON.stringify(groupVersions) === JSON.stringify(last?.groupVersions);
  const known = isSameList ? last?.parts : undefined;
  const parts = new Map<string, Part>();
  for (const { path, of, items } of partsOf(options, groups)) {
    const former = known?.get(path);
    parts.set(path, former?.of === of ? former : { of, items: items(), made: new Map() });
  }
  const all = [...parts.values()].flatMap(({ items }) => items);
  const whole = { of: groups, items: all, made: new Map() };
  return { groups, groupVersions, parts, whole, index: undefined };
}

/** Types of all do not speak of those that come and go: their documents would change with each. */
const knownVersions = (scheme: Scheme, groups: readonly DiscoveryGroup[]): GroupVersion[] =>
  groups
    .filter(({ group }) => scheme.groups.some((known) => known.group === group))
    .flatMap(({ group, versions }) => versions.map(({ version }) => ({ group, version })));

const addressOf = (path: string, hash: string): string => `/openapi/v3/${path}?hash=${hash}`;

interface PartSource {
  readonly path: string;
  readonly of: object;
  readonly items: () => readonly PathItem[];
}

/** Every 3.0 document, with the paths that it describes. */
function partsOf(options: OpenApiOptions, groups: readonly DiscoveryGroup[]): PartSource[] {
  const { scheme } = options;
  const parts: PartSource[] = [];
  for (const of of groups) {
    const { group, versions } = of;
    const path = group === '' ? 'api' : `apis/${group}`;
    parts.push({ path, of, items: () => [groupPath(scheme, group)] });
    for (const version of versions) {
      parts.push({
        path: rootOf({ group, version: version.version }).slice(1),
        of: version,
        items: () => versionPaths(options, group, version),
      });
    }
  }
  for (const { path, id, description, answer } of roots) {
    const items = (): PathItem[] => [
      documentPath({ path: `/${path}/`, id, description, tag: path, answer: scheme.type(answer) }),
    ];
    parts.push({ path, of: roots, items });
  }
  return parts;
}

const roots = [
  {
    path: 'apis',
    id: 'getAPIVersions',
    description: 'get available API versions',
    answer: 'meta/v1.APIGroupList',
  },
  {
    path: 'version',
    id: 'getCodeVersion',
    description: 'get the version of the server',
    answer: 'version.Info',
  },
] as const;

const groupPath = (scheme: Scheme, group: string): PathItem =>
  group === ''
    ? documentPath({
        path: '/api/',
        id: 'getCoreAPIVersions',
        description: 'get available API versions',
        tag: 'core',
        answer: scheme.type('meta/v1.APIVersions'),
      })
    : documentPath({
        path: `/apis/${group}/`,
        id: `get${groupWords(scheme, group)}APIGroup`,
        description: 'get information of a group',
        tag: tagOf(scheme, group),
        answer: scheme.type('meta/v1.APIGroup'),
      });

function versionPaths(
  options: OpenApiOptions,
  group: string,
  { version, resources }: DiscoveryVersion,
): PathItem[] {
  const { scheme } = options;
  return [
    documentPath({
      path: `${rootOf({ group, version })}/`,
      id: `get${operationGroup(scheme, group, version)}APIResources`,
      description: 'get available resources',
      tag: tagOf(scheme, group, version),
      answer: scheme.type('meta/v1.APIResourceList'),
    }),
    ...resources
      .flatMap((resource) => resourcePaths(options, resource))
      .sort((one, other) => (one.path < other.path ? -1 : 1)),
  ];
}

const bearerToken: JsonObject = {
  type: 'apiKey',
  name: 'authorization',
  in: 'header',
  description: 'A bearer token: the word `Bearer`, a space, the token.',
};

function sourceOf(
  options: OpenApiOptions,
  version: OpenApiVersion,
  groupVersions: readonly GroupVersion[],
  items: readonly PathItem[],
): DocumentSource {
  const { scheme, media, serverVersion, listsValues } = options;
  const security = [{ BearerToken: [] }];
  const info = { title: `${scheme.profile.name} API`, version: serverVersion };
  const parameters = [...sharedParameters, namespaceParameter, restParameter].map((one) => [
    one.name,
    parameterObject('v2', one),
  ]);
  const head: JsonObject =
    version === 'v2'
      ? {
          swagger: '2.0',
          info,
          security,
          securityDefinitions: { BearerToken: bearerToken },
          parameters: Object.fromEntries(parameters) as JsonObject,
        }
      : { openapi: '3.0.0', info, security };
  return {
    head,
    components: version === 'v2' ? {} : { securitySchemes: { BearerToken: bearerToken } },
    items,
    writing: {
      definitions: new Definitions(version, { scheme, groupVersions, listsValues }),
      media,
      extensionPrefix: scheme.profile.schemaExtensionPrefix,
    },
  };
}
