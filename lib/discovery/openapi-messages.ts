// OpenAPI documents as Protobuf messages: which member of the JSON form has which number.
// Numbers and shapes are those of the public message definitions for OpenAPI 2.0 and 3.0; only
// members that our documents have are listed.
import type { JsonObject, JsonValue } from '../api/type-info.ts';

/**
 * How one member is written: a list as a repeated member, but for `any`, which takes it as a value.
 * Messages are functions, since they contain each other.
 */
export type Member =
  | { readonly number: number; readonly as: 'anyList' }
  | { readonly number: number; readonly as: 'string' | 'bool' | 'double' | 'int64' | 'any' }
  | { readonly number: number; readonly as: 'message'; readonly message: () => Message }
  /** `{ name: value }`, as a message of named messages at number `entries`. */
  | { readonly number: number; readonly as: 'named'; readonly message: () => Message };

export interface Message {
  /** By name in the JSON form; a JSON list is a repeated member. */
  readonly members: Readonly<Record<string, Member>>;
  /** Number of the member that holds `x-…` members by name. */
  readonly extensions?: number;
  /** Number of the member that holds all others, by name. */
  readonly others?: { readonly number: number; readonly message: () => Message };
  /** A oneof: the number and message that this value is. */
  readonly choose?: (value: JsonObject) => { number: number; message: () => Message } | undefined;
  /** A value that is no object, written as this member. */
  readonly plain?: (value: JsonValue) => Member | undefined;
}

const text = (number: number): Member => ({ number, as: 'string' });
const flag = (number: number): Member => ({ number, as: 'bool' });
const double = (number: number): Member => ({ number, as: 'double' });
const count = (number: number): Member => ({ number, as: 'int64' });
const any = (number: number): Member => ({ number, as: 'any' });
const anyList = (number: number): Member => ({ number, as: 'anyList' });
const message = (number: number, of: () => Message): Member => ({
  number,
  as: 'message',
  message: of,
});
const named = (number: number, of: () => Message): Member => ({ number, as: 'named', message: of });

/** Whether there may be others, or what they are. */
const orFlag = (schema: Member): Message => ({
  members: {},
  plain: (value) => (typeof value === 'boolean' ? flag(2) : schema),
});

/** A message with one member that stands for the value itself. */
const only = (member: Member): Message => ({ members: {}, plain: () => member });
const byName = (number: number, of: () => Message): Message => ({
  members: {},
  others: { number, message: of },
});

const stringList = only(text(1));
const reference: Message = { members: { $ref: text(1) } };
const isReference = (value: JsonObject): boolean => value['$ref'] !== undefined;
const orReference = (number: number, of: () => Message, referenceNumber: number): Message => ({
  members: {},
  choose: (value) =>
    isReference(value)
      ? { number: referenceNumber, message: () => reference }
      : { number, message: of },
});
const securityRequirement = byName(1, () => stringList);

const info = (numbers: { title: number; version: number }): Message => ({
  members: { title: text(numbers.title), version: text(numbers.version) },
});

const externalDocs: Message = { members: { description: text(1), url: text(2) } };

// OpenAPI 2.0

export const v2Schema: Message = {
  members: {
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: any(5),
    multipleOf: double(6),
    maximum: double(7),
    exclusiveMaximum: flag(8),
    minimum: double(9),
    exclusiveMinimum: flag(10),
    maxLength: count(11),
    minLength: count(12),
    pattern: text(13),
    maxItems: count(14),
    minItems: count(15),
    maxProperties: count(17),
    minProperties: count(18),
    required: text(19),
    enum: anyList(20),
    additionalProperties: message(21, () => orFlag(message(1, () => v2Schema))),
    type: message(22, () => stringList),
    items: message(23, () => ({ members: {}, choose: schemaAtOne })),
    allOf: message(24, () => v2Schema),
    properties: named(25, () => v2Schema),
    externalDocs: message(29, () => externalDocs),
    example: any(30),
  },
  extensions: 31,
};
const schemaAtOne = (): { number: number; message: () => Message } => ({
  number: 1,
  message: () => v2Schema,
});

const v2BodyParameter: Message = {
  members: {
    description: text(1),
    name: text(2),
    in: text(3),
    required: flag(4),
    schema: message(5, () => v2Schema),
  },
};
const parameterMembers = { required: flag(1), in: text(2), description: text(3), name: text(4) };
const v2QueryParameter: Message = {
  members: { ...parameterMembers, type: text(6), format: text(7), uniqueItems: flag(20) },
};
const v2PathParameter: Message = {
  members: { ...parameterMembers, type: text(5), format: text(6), uniqueItems: flag(19) },
};
const v2NonBodyParameter: Message = {
  members: {},
  choose: (value) =>
    value['in'] === 'path'
      ? { number: 4, message: () => v2PathParameter }
      : { number: 3, message: () => v2QueryParameter },
};
const v2Parameter: Message = {
  members: {},
  choose: (value) =>
    value['in'] === 'body'
      ? { number: 1, message: () => v2BodyParameter }
      : { number: 2, message: () => v2NonBodyParameter },
};
const v2ParametersItem = orReference(1, () => v2Parameter, 2);
const v2Response: Message = {
  members: { description: text(1), schema: message(2, () => v2SchemaItem) },
};
const v2SchemaItem: Message = { members: {}, choose: schemaAtOne };
const v2Operation: Message = {
  members: {
    tags: text(1),
    description: text(3),
    operationId: text(5),
    produces: text(6),
    consumes: text(7),
    parameters: message(8, () => v2ParametersItem),
    responses: message(9, () => byName(1, () => orReference(1, () => v2Response, 2))),
    schemes: text(10),
  },
  extensions: 13,
};
export const v2PathItem: Message = {
  members: {
    get: message(2, () => v2Operation),
    put: message(3, () => v2Operation),
    post: message(4, () => v2Operation),
    delete: message(5, () => v2Operation),
    options: message(6, () => v2Operation),
    head: message(7, () => v2Operation),
    patch: message(8, () => v2Operation),
    parameters: message(9, () => v2ParametersItem),
  },
};
const v2ApiKey: Message = {
  members: { type: text(1), name: text(2), in: text(3), description: text(4) },
};
const v2SecurityDefinition: Message = {
  members: {},
  choose: () => ({ number: 2, message: () => v2ApiKey }),
};

export const v2Document: Message = {
  members: {
    swagger: text(1),
    info: message(2, () => info({ title: 1, version: 2 })),
    paths: message(8, () => byName(2, () => v2PathItem)),
    definitions: named(9, () => v2Schema),
    parameters: named(10, () => v2Parameter),
    security: message(12, () => securityRequirement),
    securityDefinitions: named(13, () => v2SecurityDefinition),
  },
};

// OpenAPI 3.0

const v3Default: Message = {
  members: {},
  plain: (value) =>
    typeof value === 'number'
      ? double(1)
      : typeof value === 'boolean'
        ? flag(2)
        : typeof value === 'string'
          ? text(3)
          : undefined,
};
const v3Schema: Message = {
  members: {
    nullable: flag(1),
    externalDocs: message(6, () => externalDocs),
    example: any(7),
    title: text(9),
    multipleOf: double(10),
    maximum: double(11),
    exclusiveMaximum: flag(12),
    minimum: double(13),
    exclusiveMinimum: flag(14),
    maxLength: count(15),
    minLength: count(16),
    pattern: text(17),
    maxItems: count(18),
    minItems: count(19),
    uniqueItems: flag(20),
    maxProperties: count(21),
    minProperties: count(22),
    required: text(23),
    enum: anyList(24),
    type: text(25),
    allOf: message(26, () => v3SchemaOrReference),
    oneOf: message(27, () => v3SchemaOrReference),
    anyOf: message(28, () => v3SchemaOrReference),
    not: message(29, () => v3Schema),
    items: message(30, () => only(message(1, () => v3SchemaOrReference))),
    properties: named(31, () => v3SchemaOrReference),
    additionalProperties: message(32, () => orFlag(message(1, () => v3SchemaOrReference))),
    default: message(33, () => v3Default),
    description: text(34),
    format: text(35),
  },
  extensions: 36,
};
export const v3SchemaOrReference: Message = orReference(1, () => v3Schema, 2);
const v3MediaTypes = byName(1, () => ({
  members: { schema: message(1, () => v3SchemaOrReference) },
}));
const v3Parameter: Message = {
  members: {
    name: text(1),
    in: text(2),
    description: text(3),
    required: flag(4),
    schema: message(10, () => v3SchemaOrReference),
  },
};
const v3ParameterOrReference = orReference(1, () => v3Parameter, 2);
const v3RequestBody: Message = {
  members: { content: message(2, () => v3MediaTypes), required: flag(3) },
};
const v3Response: Message = {
  members: { description: text(1), content: message(3, () => v3MediaTypes) },
};
const v3Operation: Message = {
  members: {
    tags: text(1),
    description: text(3),
    operationId: text(5),
    parameters: message(6, () => v3ParameterOrReference),
    requestBody: message(7, () => orReference(1, () => v3RequestBody, 2)),
    responses: message(8, () => byName(2, () => orReference(1, () => v3Response, 2))),
  },
  extensions: 13,
};
export const v3PathItem: Message = {
  members: {
    get: message(4, () => v3Operation),
    put: message(5, () => v3Operation),
    post: message(6, () => v3Operation),
    delete: message(7, () => v3Operation),
    options: message(8, () => v3Operation),
    head: message(9, () => v3Operation),
    patch: message(10, () => v3Operation),
    parameters: message(13, () => v3ParameterOrReference),
  },
};
const v3SecurityScheme: Message = {
  members: { type: text(1), description: text(2), name: text(3), in: text(4) },
};

export const v3Document: Message = {
  members: {
    openapi: text(1),
    info: message(2, () => info({ title: 1, version: 6 })),
    paths: message(4, () => byName(1, () => v3PathItem)),
    components: message(5, () => ({
      members: {
        schemas: named(1, () => v3SchemaOrReference),
        securitySchemes: named(7, () => orReference(1, () => v3SecurityScheme, 2)),
      },
    })),
    security: message(6, () => securityRequirement),
  },
};
