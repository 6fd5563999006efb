// OpenAPI of everything that is served: one 2.0 document, and per path of 3.0 one document with its
// hash. Made on first use, kept, and the same bytes on every replica; HTTP is the server's.
// A new one is made when groups change; built from TypeInfo alone.
import type { Scheme } from '../api/scheme.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import type { DiscoveryGroup } from './discovery.ts';
import { groupWords, operationGroup, tagOf } from './openapi-names.ts';
import { hashed, jsonDocument, protobufDocument } from './openapi-document.ts';
import type { DocumentSource, HashedBytes } from './openapi-document.ts';
import { documentPath, resourcePaths, rootOf } from './openapi-operations.ts';
import type { PathItem } from './openapi-operations.ts';
import { sharedParameters, namespaceParameter, restParameter } from './openapi-parameters.ts';
import { parameterObject } from './openapi-paths.ts';
import type { OpenApiMedia } from './openapi-paths.ts';
import { Definitions } from './openapi-schemas.ts';
import type { OpenApiVersion } from './openapi-schemas.ts';

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
  /** In discovery order, the core group (named '') among them. */
  readonly groups: readonly DiscoveryGroup[];
  readonly media: OpenApiMedia;
  /** Gate OpenAPIEnums: fields list the values that they can have. */
  readonly listsValues: boolean;
  /** Version of the server, as `/version` says it. */
  readonly serverVersion: string;
  readonly answersDeletedObject: (resource: ResourceInfo) => boolean;
}

export function createOpenApi(options: OpenApiOptions): OpenApi {
  let known: ReadonlyMap<string, readonly PathItem[]> | undefined;
  const parts = (): ReadonlyMap<string, readonly PathItem[]> =>
    (known ??= pathsByDocument(options));
  const made = new Map<string, Promise<OpenApiDocument>>();
  const once = (key: string, make: () => Promise<OpenApiDocument>): Promise<OpenApiDocument> => {
    const present = made.get(key);
    if (present !== undefined) return present;
    const document = make();
    made.set(key, document);
    return document;
  };
  const json = (key: string, source: () => DocumentSource): Promise<OpenApiDocument> =>
    once(key, () => jsonDocument(source()));
  const documentOf = (
    key: string,
    source: () => DocumentSource,
    form: OpenApiForm,
  ): Promise<OpenApiDocument> =>
    form === 'json'
      ? json(key, source)
      : once(`${key} ${form}`, async () => {
          const { hash } = await json(key, source);
          return { bytes: await protobufDocument(source()), hash };
        });
  const partSource = (path: string) => (): DocumentSource =>
    sourceOf(options, 'v3', parts().get(path) ?? []);
  return {
    whole: (form) =>
      documentOf('v2', () => sourceOf(options, 'v2', [...parts().values()].flat()), form),
    index: () =>
      once('index', async () => {
        const paths: JsonObject = {};
        for (const path of [...parts().keys()].sort()) {
          const { hash } = await json(`v3 ${path}`, partSource(path));
          paths[path] = { serverRelativeURL: addressOf(path, hash) };
        }
        return hashed([Buffer.from(`${JSON.stringify({ paths })}\n`)]);
      }),
    async part(path, form) {
      return parts().has(path) ? documentOf(`v3 ${path}`, partSource(path), form) : undefined;
    },
    addressOf,
  };
}

const addressOf = (path: string, hash: string): string => `/openapi/v3/${path}?hash=${hash}`;

/** Every served path, by the 3.0 document that describes it. */
function pathsByDocument(options: OpenApiOptions): ReadonlyMap<string, readonly PathItem[]> {
  const { scheme, groups } = options;
  const documents = new Map<string, PathItem[]>();
  const add = (document: string, items: readonly PathItem[]): void => {
    const present = documents.get(document) ?? [];
    documents.set(document, [...present, ...items]);
  };
  for (const { group, versions } of groups) {
    const words = groupWords(scheme, group);
    if (group === '') {
      add('api', [
        documentPath({
          path: '/api/',
          id: 'getCoreAPIVersions',
          description: 'get available API versions',
          tag: 'core',
          answer: scheme.type('meta/v1.APIVersions'),
        }),
      ]);
    } else {
      add(`apis/${group}`, [
        documentPath({
          path: `/apis/${group}/`,
          id: `get${words}APIGroup`,
          description: 'get information of a group',
          tag: tagOf(scheme, group),
          answer: scheme.type('meta/v1.APIGroup'),
        }),
      ]);
    }
    for (const { version, resources } of versions) {
      const root = rootOf({ group, version });
      add(root.slice(1), [
        documentPath({
          path: `${root}/`,
          id: `get${operationGroup(scheme, group, version)}APIResources`,
          description: 'get available resources',
          tag: tagOf(scheme, group, version),
          answer: scheme.type('meta/v1.APIResourceList'),
        }),
        ...resources
          .flatMap((resource) => resourcePaths(options, resource))
          .sort((one, other) => (one.path < other.path ? -1 : 1)),
      ]);
    }
  }
  add('apis', [
    documentPath({
      path: '/apis/',
      id: 'getAPIVersions',
      description: 'get available API versions',
      tag: 'apis',
      answer: scheme.type('meta/v1.APIGroupList'),
    }),
  ]);
  add('version', [
    documentPath({
      path: '/version/',
      id: 'getCodeVersion',
      description: 'get the version of the server',
      tag: 'version',
      answer: scheme.type('version.Info'),
    }),
  ]);
  return documents;
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
  items: readonly PathItem[],
): DocumentSource {
  const { scheme, groups, media, serverVersion, listsValues } = options;
  const groupVersions = groups.flatMap((one) =>
    one.versions.map((of) => ({ group: one.group, version: of.version })),
  );
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
