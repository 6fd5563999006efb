// OpenAPI of everything that is served: one 2.0 document, and per path of 3.0 one document with its
// hash. Made when asked for, the same bytes on every replica; HTTP is the server's. A change costs
// what changed, and the hash of what comes at run time is known before it is made.
import type { Scheme } from '../api/scheme.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import type { Clock } from '../base/clock.ts';
import type { DiscoveryGroup } from './discovery.ts';
import { documentBytes, hashOfAll } from './openapi-document.ts';
import type { DocumentBytes, DocumentHead } from './openapi-document.ts';
import { Fragments } from './openapi-fragments.ts';
import type { OpenApiForm, Source } from './openapi-fragments.ts';
import { sharedParameters, namespaceParameter, restParameter } from './openapi-parameters.ts';
import { parameterObject } from './openapi-paths.ts';
import type { OpenApiMedia } from './openapi-paths.ts';
import type { GroupVersion, OpenApiVersion } from './openapi-schemas.ts';
import { Sources } from './openapi-sources.ts';
import type { PartSource } from './openapi-sources.ts';
import { passTurnOn } from './openapi-steps.ts';

export interface OpenApiDocument {
  /** One for all forms: another one when the content changes. */
  readonly hash: string;
  /** Made now, where it was not made of late. */
  bytes(): Promise<DocumentBytes>;
}

export interface OpenApi {
  /** The 2.0 document. */
  whole(form: OpenApiForm): Promise<OpenApiDocument>;
  /** The list of 3.0 documents with their addresses. */
  index(): Promise<OpenApiDocument>;
  /** The 3.0 document of a path such as `apis/apps/v1`; undefined: there is none. */
  part(path: string, form: OpenApiForm): Promise<OpenApiDocument | undefined>;
  /** Where the document of that path and hash is. */
  addressOf(path: string, hash: string): string;
  /** Frees what was made of a resource that is gone. */
  drop(resource: ResourceInfo): void;
  /** Of documents and their pieces that are kept. */
  readonly keptBytes: number;
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
  readonly clock: Clock;
}

/** What documents are made of, for one list of versions that types of all kinds name. */
interface Stock {
  readonly groupVersions: readonly GroupVersion[];
  readonly sources: Sources;
  readonly fragments: Fragments;
  /** 3.0 documents by the key of their sources. */
  readonly parts: WeakMap<object, Part>;
}

interface Part {
  readonly version: OpenApiVersion;
  readonly sources: readonly Source[];
  hash: string | undefined;
}

/** All documents of one state of the groups. */
interface Documents {
  readonly groups: readonly DiscoveryGroup[];
  readonly stock: Stock;
  whole: Part | undefined;
  index: OpenApiDocument | undefined;
}

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const heads = { v2: headOf(options, 'v2'), v3: headOf(options, 'v3') };
  let last: Documents | undefined;
  const current = (): Documents => {
    const groups = options.groups();
    if (last?.groups !== groups) last = documentsOf(options, groups, last);
    return last;
  };
  const documentOf = async (
    { fragments }: Stock,
    part: Part,
    form: OpenApiForm,
  ): Promise<OpenApiDocument> => {
    const { version, sources } = part;
    const head = heads[version];
    part.hash ??= await hashOf(options, head, part, fragments);
    return {
      hash: part.hash,
      bytes: () => documentBytes({ version, form, head, sources, fragments }),
    };
  };
  return {
    whole(form) {
      const documents = current();
      const { groups, stock } = documents;
      documents.whole ??= { version: 'v2', sources: stock.sources.whole(groups), hash: undefined };
      return documentOf(stock, documents.whole, form);
    },
    async index() {
      const documents = current();
      documents.index ??= await indexOf(
        documents,
        async (part) => (await documentOf(documents.stock, part, 'json')).hash,
      );
      return documents.index;
    },
    async part(path, form) {
      const { groups, stock } = current();
      const source = stock.sources.part(groups, path);
      return source === undefined ? undefined : documentOf(stock, partOf(stock, source), form);
    },
    addressOf,
    drop: (resource) => last?.stock.fragments.drop(resource),
    get keptBytes() {
      return last?.stock.fragments.keptBytes ?? 0;
    },
  };
}

/** Of 2.0 the content decides: what it leaves out changes nothing. */
async function hashOf(
  { media, listsValues }: OpenApiOptions,
  head: DocumentHead,
  { version, sources }: Part,
  fragments: Fragments,
): Promise<string> {
  const hashes = [JSON.stringify([head, media, listsValues])];
  for (const source of sources) {
    const inputs = version === 'v2' ? undefined : source.inputs;
    hashes.push(inputs ?? (await fragments.hashOf(source, version)));
    await passTurnOn();
  }
  return hashOfAll(hashes);
}

async function indexOf(
  { groups, stock }: Documents,
  hashOfPart: (part: Part) => Promise<string>,
): Promise<OpenApiDocument> {
  const paths: JsonObject = {};
  const sources = [...stock.sources.parts(groups)];
  await passTurnOn();
  for (const source of sources.sort((one, other) => (one.path < other.path ? -1 : 1))) {
    const hash = await hashOfPart(partOf(stock, source));
    paths[source.path] = { serverRelativeURL: addressOf(source.path, hash) };
    await passTurnOn();
  }
  const text = `${JSON.stringify({ paths })}\n`;
  const body = Buffer.from(text);
  const bytes = { totalBytes: body.length, [Symbol.iterator]: () => [body].values() };
  return { hash: hashOfAll([text]), bytes: () => Promise.resolve(bytes) };
}

/** What groups, versions and resources have that are the same as the last time is kept. */
function documentsOf(
  options: OpenApiOptions,
  groups: readonly DiscoveryGroup[],
  last: Documents | undefined,
): Documents {
  const groupVersions = knownVersions(options.scheme, groups);
  const isSame = JSON.stringify(groupVersions) === JSON.stringify(last?.stock.groupVersions);
  const stock = isSame && last !== undefined ? last.stock : stockOf(options, groupVersions);
  return { groups, stock, whole: undefined, index: undefined };
}

function partOf({ parts }: Stock, { key, sources }: PartSource): Part {
  let part = parts.get(key);
  if (part === undefined) {
    part = { version: 'v3', sources: sources(), hash: undefined };
    parts.set(key, part);
  }
  return part;
}

function stockOf(options: OpenApiOptions, groupVersions: readonly GroupVersion[]): Stock {
  const { scheme, listsValues, clock } = options;
  return {
    groupVersions,
    sources: new Sources(options),
    fragments: new Fragments({
      definitions: { scheme, groupVersions, listsValues },
      extensionPrefix: scheme.profile.schemaExtensionPrefix,
      clock,
    }),
    parts: new WeakMap(),
  };
}

/** Types of all do not speak of those that come and go: their documents would change with each. */
const knownVersions = (scheme: Scheme, groups: readonly DiscoveryGroup[]): GroupVersion[] =>
  groups
    .filter(({ group }) => scheme.groups.some((known) => known.group === group))
    .flatMap(({ group, versions }) => versions.map(({ version }) => ({ group, version })));

const addressOf = (path: string, hash: string): string => `/openapi/v3/${path}?hash=${hash}`;

const bearerToken: JsonObject = {
  type: 'apiKey',
  name: 'authorization',
  in: 'header',
  description: 'A bearer token: the word `Bearer`, a space, the token.',
};

function headOf({ scheme, serverVersion }: OpenApiOptions, version: OpenApiVersion): DocumentHead {
  const security = [{ BearerToken: [] }];
  const info = { title: `${scheme.profile.name} API`, version: serverVersion };
  if (version === 'v3') {
    const components = { securitySchemes: { BearerToken: bearerToken } };
    return { members: { openapi: '3.0.0', info, security }, components };
  }
  const parameters = [...sharedParameters, namespaceParameter, restParameter].map((one) => [
    one.name,
    parameterObject('v2', one),
  ]);
  const members: JsonObject = {
    swagger: '2.0',
    info,
    security,
    securityDefinitions: { BearerToken: bearerToken },
    parameters: Object.fromEntries(parameters) as JsonObject,
  };
  return { members, components: {} };
}
