// Definitions to be validated, made of one that is right and of changes to it.
import { FieldErrors } from '../../../api/field-errors.ts';
import type { JsonObject } from '../../../api/type-info.ts';
import { namingProfile } from '../../../api/vendor.ts';
import { fieldErrorMessage } from '../../../base/status.ts';
import { atOnce } from '../../../base/steps.ts';
import type { ApiObject } from '../../../codec/codec.ts';
import { validateDefinition } from '../definition-validation.ts';

export const naming = namingProfile('kubernetes');
export const prefix = naming.schemaExtensionPrefix;

export type Change = (definition: Definition) => void;
export interface Definition {
  metadata: JsonObject;
  spec: JsonObject & { versions: (JsonObject & { schema?: JsonObject })[] };
  status: JsonObject;
}

export const definition = (...changes: readonly Change[]): Definition => {
  const made: Definition = {
    metadata: { name: 'ws.e.com' },
    spec: {
      group: 'e.com',
      scope: 'Namespaced',
      names: { plural: 'ws', singular: 'w', kind: 'W', listKind: 'WList' },
      conversion: { strategy: 'None' },
      versions: [{ name: 'v1', served: true, storage: true, schema: schemaOf({}) }],
    },
    status: { storedVersions: ['v1'] },
  };
  for (const change of changes) change(made);
  return made;
};

export const schemaOf = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties } },
    ...more,
  },
});

export const established: Change = ({ status }) => {
  status['conditions'] = [{ type: 'Established', status: 'True' }];
};
export const withSpec =
  (members: JsonObject): Change =>
  ({ spec }) =>
    Object.assign(spec, members);
export const withVersion =
  (members: JsonObject): Change =>
  ({ spec }) =>
    Object.assign(spec.versions[0] ?? {}, members);
export const withProperties = (properties: JsonObject, more?: JsonObject): Change =>
  withVersion({ schema: schemaOf(properties, more) });
export const withWebhook = (webhook: JsonObject): Change =>
  withSpec({ conversion: { strategy: 'Webhook', webhook } });

interface Told {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** What a write is told; without a stored one it is new. */
export function told(object: Definition, old?: Definition, subresource = ''): Told {
  const errors = new FieldErrors();
  const write = {
    object: object as unknown as ApiObject,
    old: old as unknown as ApiObject | undefined,
    ...{ errors, naming, isOn: () => true, subresource, apiVersion: 'v1' },
  };
  const warnings = atOnce(validateDefinition(write));
  return {
    errors: errors.list.map((error) => `${error.field}: ${fieldErrorMessage(error)}`),
    warnings,
  };
}

export const created = (...changes: readonly Change[]): readonly string[] =>
  told(definition(...changes)).errors;

export const label =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " +
  "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', " +
  "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
export const names = (members: JsonObject): Change =>
  withSpec({ names: { plural: 'ws', singular: 'w', kind: 'W', listKind: 'WList', ...members } });
export const root = 'spec.validation.openAPIV3Schema';
export const inSpec = `${root}.properties[spec].properties`;
export const rules = (...given: readonly JsonObject[]): JsonObject => ({
  type: 'string',
  maxLength: 10,
  [`${prefix}validations`]: [...given],
});
export const rulePath = (at: number): string => `${inSpec}[a].${prefix}validations[${String(at)}]`;
