// Operations written as path items of OpenAPI 2.0 and 3.0.
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import type { Definitions } from './openapi-schemas.ts';
import type { Operation, PathItem } from './openapi-operations.ts';
import type { Parameter } from './openapi-parameters.ts';

/** What bodies and answers can be, as the server negotiates them. */
export interface OpenApiMedia {
  readonly objects: readonly string[];
  /** What bodies are said to be; absent: whatever the server takes. */
  readonly bodies?: readonly string[];
  /** Watches. */
  readonly streams: readonly string[];
  readonly patches: readonly string[];
}

export interface PathWriting {
  readonly definitions: Definitions;
  readonly media: OpenApiMedia;
  readonly extensionPrefix: string;
}

export function pathItemObject(writing: PathWriting, item: PathItem): JsonObject {
  const written: JsonObject = {};
  for (const operation of item.operations) {
    written[operation.method] = operationObject(writing, operation);
  }
  if (item.parameters.length > 0) {
    written['parameters'] = item.parameters.map((one) => parameterUse(writing, one));
  }
  return written;
}

function operationObject(writing: PathWriting, operation: Operation): JsonObject {
  const { extensionPrefix: prefix, definitions } = writing;
  const { description, id, tag, action, kind } = operation;
  const head: JsonObject = { description, operationId: id, tags: [tag] };
  const parameters = operation.parameters.map((one) => parameterUse(writing, one));
  const tail: JsonObject = {
    ...(action === undefined ? {} : { [`${prefix}action`]: action }),
    ...(kind === undefined
      ? {}
      : {
          [`${prefix}group-version-kind`]: {
            group: kind.group,
            kind: kind.kind,
            version: kind.version,
          },
        }),
  };
  const body = definitions.version === 'v2' ? v2Parts : v3Parts;
  return { ...head, ...body(writing, operation, parameters), ...tail };
}

const anything = '*/*';

function answersIn({ media }: PathWriting, operation: Operation): readonly string[] {
  switch (operation.media) {
    case 'connect':
      return [anything];
    case 'text':
      return ['text/plain', ...media.objects];
    case 'list':
      return [...media.objects, ...media.streams];
    default:
      return media.objects;
  }
}

const bodiesIn = ({ media }: PathWriting, operation: Operation): readonly string[] =>
  operation.media === 'patch' ? media.patches : (media.bodies ?? [anything]);

const textSchema: JsonObject = { type: 'string' };

const answerSchema = ({ definitions }: PathWriting, { answer }: Operation): JsonObject =>
  answer === undefined ? textSchema : definitions.refTo(answer);

const meaning: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };

function responses(operation: Operation, success: JsonObject): JsonObject {
  const all: JsonObject = {};
  for (const code of operation.codes) {
    all[String(code)] = { description: meaning[code] ?? 'OK', ...success };
  }
  all['401'] = { description: 'Unauthorized' };
  return all;
}

function v2Parts(
  writing: PathWriting,
  operation: Operation,
  parameters: readonly JsonObject[],
): JsonObject {
  const { body } = operation;
  const bodies: JsonObject[] =
    body === undefined
      ? []
      : [
          {
            name: 'body',
            in: 'body',
            ...(body.required ? { required: true } : {}),
            schema: writing.definitions.refTo(body.type),
          },
        ];
  const all = [...bodies, ...parameters];
  return {
    consumes: [...bodiesIn(writing, operation)],
    produces: [...answersIn(writing, operation)],
    schemes: ['https'],
    ...(all.length === 0 ? {} : { parameters: all }),
    responses: responses(operation, { schema: answerSchema(writing, operation) }),
  };
}

function v3Parts(
  writing: PathWriting,
  operation: Operation,
  parameters: readonly JsonObject[],
): JsonObject {
  const { body } = operation;
  const contentOf = (mediaTypes: readonly string[], schema: JsonObject): JsonObject =>
    Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
  return {
    ...(parameters.length === 0 ? {} : { parameters: [...parameters] }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: contentOf(bodiesIn(writing, operation), writing.definitions.refTo(body.type)),
            ...(body.required ? { required: true } : {}),
          },
        }),
    responses: responses(operation, {
      content: contentOf(answersIn(writing, operation), answerSchema(writing, operation)),
    }),
  };
}

function parameterUse({ definitions }: PathWriting, parameter: Parameter): JsonObject {
  const isReferred = definitions.version === 'v2' && parameter.isShared;
  return isReferred
    ? { $ref: `#/parameters/${parameter.name}` }
    : parameterObject(definitions.version, parameter);
}

export function parameterObject(
  version: Definitions['version'],
  { name, in: place, type, description }: Parameter,
): JsonObject {
  const shape: Record<string, JsonValue> = { type, uniqueItems: true };
  return {
    name,
    in: place,
    description,
    ...(place === 'path' ? { required: true } : {}),
    ...(version === 'v2' ? shape : { schema: shape }),
  };
}
