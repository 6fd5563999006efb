// A definition of a custom resource as what serves it needs it, read from the stored object. It
// reads and does not check: what is not as it must be counts as absent.
import { createHash } from 'node:crypto';
import { flagAt, recordAt, recordsAt, textAt } from '../api/json-access.ts';
import type { JsonObject } from '../api/type-info.ts';
import { stringify } from '../codec/json.ts';
import { isConditionTrue, isEstablished, isServed } from '../kinds/apiextensions/conditions.ts';
import {
  acceptedNamesOf,
  namesOf,
  schemaOf,
  storageVersionOf,
  storedVersionsOf,
} from '../kinds/apiextensions/definition-parts.ts';
import type { DefinitionNames } from '../kinds/apiextensions/definition-parts.ts';
import type { ConversionWebhookConfig } from './conversion/conversion-webhook.ts';

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly deprecated: boolean;
  /** undefined: the usual text. */
  readonly deprecationWarning: string | undefined;
  readonly hasStatus: boolean;
  /** Of the subresource `scale`; undefined: it has none. */
  readonly scale: JsonObject | undefined;
  readonly columns: readonly JsonObject[];
  /** Paths with their leading dot. */
  readonly selectableFields: readonly string[];
  /** What decides the bytes of objects that are stored in this version. */
  readonly fingerprint: string;
}

export interface Definition {
  /** PLURAL.GROUP. */
  readonly name: string;
  readonly uid: string;
  readonly group: string;
  readonly namespaced: boolean;
  /** As they were accepted. */
  readonly names: DefinitionNames;
  readonly versions: readonly DefinitionVersion[];
  readonly storageVersion: string;
  /** Objects may lie in other versions than the storage version. */
  readonly isMixed: boolean;
  /** `spec.conversion.webhook`; undefined: the versions have the same fields. */
  readonly webhook: ConversionWebhookConfig | undefined;
  /** Those of all versions, once each. */
  readonly selectableFields: readonly string[];
  /** Unknown fields are kept whatever the schemas say (definitions of the beta). */
  readonly preservesUnknownFields: boolean;
  /** Its objects are served: its names were accepted once. */
  readonly isServed: boolean;
  /** It is in discovery. */
  readonly isEstablished: boolean;
  readonly isTerminating: boolean;
  /** The same as long as what is served of it is the same. */
  readonly shape: string;
}

/** `object` is in the stable version. */
export function readDefinition(object: Readonly<JsonObject>): Definition {
  const [metadata, spec] = ['metadata', 'spec'].map((name) => recordAt(object, name));
  const wished = namesOf(recordAt(spec, 'names'));
  const accepted = namesOf(acceptedNamesOf(object));
  const names = accepted.kind === '' ? wished : { ...accepted, plural: wished.plural };
  const group = textAt(spec, 'group');
  const namespaced = textAt(spec, 'scope') === 'Namespaced';
  const preservesUnknownFields = flagAt(spec, 'preserveUnknownFields');
  const versions = recordsAt(spec, 'versions');
  const selectableFields = [...new Set(versions.flatMap(selectableFieldsOf))];
  const common = [group, names.kind, namespaced, preservesUnknownFields, selectableFields];
  const storageVersion = storageVersionOf(spec);
  const state = {
    isMixed: storedVersionsOf(object).some((version) => version !== storageVersion),
    isServed: isServed(object),
    isEstablished: isEstablished(object),
    isTerminating:
      isConditionTrue(object, 'Terminating') || textAt(metadata, 'deletionTimestamp') !== '',
  };
  const uid = textAt(metadata, 'uid');
  return {
    name: textAt(metadata, 'name'),
    uid,
    group,
    namespaced,
    names,
    versions: versions.map((version) => versionOf(version, common)),
    storageVersion,
    webhook: webhookOf(recordAt(spec, 'conversion')),
    selectableFields,
    preservesUnknownFields,
    ...state,
    shape: digestOf([uid, names, state, spec ?? {}]),
  };
}

const webhookOf = (conversion: JsonObject | undefined): ConversionWebhookConfig | undefined =>
  textAt(conversion, 'strategy') === 'Webhook'
    ? // Its members are those that the type of definitions has.
      (recordAt(conversion, 'webhook') as unknown as ConversionWebhookConfig | undefined)
    : undefined;

/** The schema of a version as it is written; undefined: there is none. */
export const schemaIn = (object: Readonly<JsonObject>, version: string): JsonObject | undefined =>
  schemaOf(
    recordsAt(recordAt(object, 'spec'), 'versions').find((one) => textAt(one, 'name') === version),
  );

function versionOf(version: JsonObject, common: readonly unknown[]): DefinitionVersion {
  const name = textAt(version, 'name');
  const subresources = recordAt(version, 'subresources');
  const selectableFields = selectableFieldsOf(version);
  const schema = schemaOf(version);
  return {
    name,
    served: flagAt(version, 'served'),
    deprecated: flagAt(version, 'deprecated'),
    deprecationWarning:
      typeof version['deprecationWarning'] === 'string' ? version['deprecationWarning'] : undefined,
    hasStatus: recordAt(subresources, 'status') !== undefined,
    scale: recordAt(subresources, 'scale'),
    columns: recordsAt(version, 'additionalPrinterColumns'),
    selectableFields,
    fingerprint: digestOf([common, name, selectableFields, schema ?? null]),
  };
}

const selectableFieldsOf = (version: JsonObject): string[] =>
  recordsAt(version, 'selectableFields')
    .map((field) => textAt(field, 'jsonPath'))
    .filter((path) => path !== '');

const digestOf = (value: unknown): string =>
  createHash('sha256')
    .update(stringify(value as JsonObject))
    .digest('base64url')
    .slice(0, 16);
