// Models of kinds that come at run time: the kind as its schema has it, and its list. They are
// referred to by name, so that nobody reads a schema for a document that only points at it.
import type { Scheme } from '../api/scheme.ts';
import type {
  GroupVersionKind,
  JsonObject,
  PublishedKind,
  ResourceInfo,
  TypeInfo,
} from '../api/type-info.ts';
import { definitionName } from './openapi-names.ts';
import { openTypeSchema } from './openapi-open.ts';
import type { WrittenSchema } from './openapi-open.ts';
import { kindEntry, referenceTo, typeMetaProperties } from './openapi-schemas.ts';
import type { OpenApiVersion } from './openapi-schemas.ts';
import { inShortTurns } from './openapi-steps.ts';

export interface OpenModel {
  readonly name: string;
  readonly schema: (version: OpenApiVersion) => Promise<WrittenSchema>;
}

/** What documents say of a resource; undefined: it is one of the release. */
export function publishedKind(scheme: Scheme, resource: ResourceInfo): PublishedKind | undefined {
  if (resource.published !== undefined) return resource.published;
  if (scheme.kind(resource.kind) !== undefined) return undefined;
  return { isListed: true, typeOnce: () => resource.type };
}

/** `group.example.com/v1`, Kind → `com.example.group.v1.Kind`. */
export const modelName = ({ group, version, kind }: GroupVersionKind): string =>
  [...group.split('.').reverse(), version, kind].join('.');

/** The kind and its list. */
export function modelsOf(
  scheme: Scheme,
  resource: ResourceInfo,
  published: PublishedKind,
): readonly OpenModel[] {
  const listKind = { ...resource.kind, kind: resource.listKind };
  return [
    {
      name: modelName(resource.kind),
      schema: async (version) => {
        const type = await published.typeOnce();
        const { schema, large } = await kindSchema(scheme, type, version);
        return { schema: Object.assign(schema, marks(scheme, resource, resource.kind)), large };
      },
    },
    {
      name: modelName(listKind),
      schema: (version) => {
        const schema = listSchema(scheme, resource, version);
        const marked = Object.assign(schema, marks(scheme, resource, listKind));
        return Promise.resolve({ schema: marked, large: nothing });
      },
    },
  ];
}

const nothing: ReadonlySet<JsonObject> = new Set();

/** Clients take declared properties for all there are: without a schema none is declared. */
async function kindSchema(
  scheme: Scheme,
  type: TypeInfo | undefined,
  version: OpenApiVersion,
): Promise<WrittenSchema> {
  const bare = { schema: { type: 'object' }, large: nothing };
  if (type === undefined) return bare;
  const context = {
    version,
    prefix: scheme.profile.schemaExtensionPrefix,
    typeMeta: typeMetaProperties,
    refTo: (of: TypeInfo) => referenceTo(version, definitionName(scheme, of)),
  };
  return (await inShortTurns(openTypeSchema(type, context))) ?? bare;
}

function listSchema(scheme: Scheme, resource: ResourceInfo, version: OpenApiVersion): JsonObject {
  const { kind, listKind } = resource;
  const listMeta = definitionName(scheme, scheme.type('meta/v1.ListMeta'));
  return {
    description: `${listKind} is a list of ${kind.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...typeMetaProperties,
      metadata: referenceTo(version, listMeta),
      items: {
        description: `The ${resource.resource}.`,
        type: 'array',
        items: referenceTo(version, modelName(kind)),
      },
    },
  };
}

/** By which kind a model is found, and which of its fields select. */
function marks(scheme: Scheme, resource: ResourceInfo, kind: GroupVersionKind): JsonObject {
  const prefix = scheme.profile.schemaExtensionPrefix;
  const fields = resource.fieldSelectors.filter((path) => !ofAllKinds.has(path));
  const selectable = fields.map((fieldPath) => ({ fieldPath }));
  return {
    [`${prefix}group-version-kind`]: [kindEntry(kind)],
    ...(selectable.length === 0 ? {} : { [`${prefix}selectable-fields`]: selectable }),
  };
}

const ofAllKinds: ReadonlySet<string> = new Set(['metadata.name', 'metadata.namespace']);
