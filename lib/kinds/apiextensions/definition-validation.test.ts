// What definitions are told, word for word, and what updates of stored ones may keep.
import { describe, expect, test } from '@jest/globals';
import { FieldErrors } from '../../api/field-errors.ts';
import { recordsAt } from '../../api/json-access.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import { fieldErrorMessage } from '../../base/status.ts';
import { atOnce } from '../../base/steps.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { DefinitionSchemas } from './definition-schemas.ts';
import { validateDefinition } from './definition-validation.ts';

const naming = namingProfile('kubernetes');
const prefix = naming.schemaExtensionPrefix;

type Change = (definition: Definition) => void;
interface Definition {
  metadata: JsonObject;
  spec: JsonObject & { versions: (JsonObject & { schema?: JsonObject })[] };
  status: JsonObject;
}

const definition = (...changes: readonly Change[]): Definition => {
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

const schemaOf = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties } },
    ...more,
  },
});

const established: Change = ({ status }) => {
  status['conditions'] = [{ type: 'Established', status: 'True' }];
};
const withSpec =
  (members: JsonObject): Change =>
  ({ spec }) =>
    Object.assign(spec, members);
const withVersion =
  (members: JsonObject): Change =>
  ({ spec }) =>
    Object.assign(spec.versions[0] ?? {}, members);
const withProperties = (properties: JsonObject, more?: JsonObject): Change =>
  withVersion({ schema: schemaOf(properties, more) });
const withWebhook = (webhook: JsonObject): Change =>
  withSpec({ conversion: { strategy: 'Webhook', webhook } });

interface Told {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

function told(object: Definition, old?: Definition, subresource = ''): Told {
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

const created = (...changes: readonly Change[]): readonly string[] =>
  told(definition(...changes)).errors;

const label =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " +
  "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', " +
  "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const names = (members: JsonObject): Change =>
  withSpec({ names: { plural: 'ws', singular: 'w', kind: 'W', listKind: 'WList', ...members } });
const root = 'spec.validation.openAPIV3Schema';
const inSpec = `${root}.properties[spec].properties`;
const rules = (...given: readonly JsonObject[]): JsonObject => ({
  type: 'string',
  maxLength: 10,
  [`${prefix}validations`]: [...given],
});
const rulePath = (at: number): string => `${inSpec}[a].${prefix}validations[${String(at)}]`;

describe('a new definition', () => {
  test.each<[string, Change, readonly string[]]>([
    ['is right as it is', () => undefined, []],
    ['has a group', withSpec({ group: '' }), ['spec.group: Required value']],
    [
      'has a group with a dot',
      withSpec({ group: 'com' }),
      ['spec.group: Invalid value: "com": should be a domain with at least one dot'],
    ],
    ['has a scope', withSpec({ scope: '' }), ['spec.scope: Required value']],
    [
      'has one of two scopes',
      withSpec({ scope: 'X' }),
      ['spec.scope: Unsupported value: "X": supported values: "Cluster", "Namespaced"'],
    ],
    [
      'tells all that is wrong with a label at once',
      names({ shortNames: ['A'.repeat(64)] }),
      [
        `spec.names.shortNames[0]: Invalid value: "${'A'.repeat(64)}": ` +
          `must be no more than 63 characters,${label}`,
      ],
    ],
    [
      'has kinds that are labels but for their case',
      names({ kind: 'W_' }),
      [
        'spec.names.kind: Invalid value: "W_": may have mixed case, but should otherwise match: ' +
          label,
      ],
    ],
    [
      'has another kind for lists',
      names({ listKind: 'W' }),
      ['spec.names.listKind: Invalid value: "W": kind and listKind may not be the same'],
    ],
    [
      'has labels for categories',
      names({ categories: ['X'] }),
      [`spec.names.categories[0]: Invalid value: "X": ${label}`],
    ],
    [
      'has all names',
      names({ plural: '', singular: '', kind: '', listKind: '' }),
      ['plural', 'singular', 'kind', 'listKind'].map(
        (name) => `spec.names.${name}: Required value`,
      ),
    ],
    [
      'has labels for versions, told once more for the first',
      ({ spec, status }) => {
        Object.assign(spec.versions[0] ?? {}, { name: 'V' });
        status['storedVersions'] = ['V'];
      },
      [
        `spec.versions[0].name: Invalid value: "V": ${label}`,
        `spec.version: Invalid value: "V": ${label}`,
      ],
    ],
    [
      'has a schema in each version',
      ({ spec }) => delete spec.versions[0]?.schema,
      ['spec.versions[0].schema.openAPIV3Schema: Required value'],
    ],
    [
      'warns of deprecated versions only',
      withVersion({ deprecationWarning: '' }),
      [
        'spec.versions[0].deprecationWarning: Invalid value: "": ' +
          'can only be set for deprecated versions',
      ],
    ],
    [
      'warns in words',
      withVersion({ deprecated: true, deprecationWarning: '' }),
      ['spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string'],
    ],
    [
      'warns in what can be printed',
      withVersion({ deprecated: true, deprecationWarning: 'é\n' }),
      [
        'spec.versions[0].deprecationWarning: Invalid value: "é\\n": must only contain printable ' +
          'UTF-8 characters; non-printable character found at index 2',
      ],
    ],
    [
      'is stored in one version, shown with all members of the internal form',
      withVersion({ storage: false }),
      [
        'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,' +
          '"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,' +
          '"AdditionalPrinterColumns":null,"SelectableFields":null}]: ' +
          'must have exactly one version marked as storage version',
      ],
    ],
    [
      'keeps unknown fields by its schemas',
      withSpec({ preserveUnknownFields: true }),
      [
        'spec.conversion.strategy: ok',
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set ' +
          `${prefix}preserve-unknown-fields to true in spec.versions[*].schema instead`,
      ].slice(1),
    ],
    [
      'has a strategy of conversion',
      withSpec({ conversion: { strategy: 'X' } }),
      ['spec.conversion.strategy: Unsupported value: "X": supported values: "None", "Webhook"'],
    ],
    [
      'has a webhook where one converts',
      withSpec({ conversion: { strategy: 'Webhook' } }),
      [
        'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
        'spec.conversion.conversionReviewVersions: Required value',
      ],
    ],
    [
      'has none where nobody is asked',
      withSpec({
        conversion: {
          strategy: 'None',
          webhook: { clientConfig: { url: 'https://a' }, conversionReviewVersions: ['v1'] },
        },
      }),
      ['webhookClientConfig', 'conversionReviewVersions'].map(
        (name) =>
          `spec.conversion.${name}: Forbidden: ` +
          'should not be set when strategy is not set to Webhook',
      ),
    ],
    [
      'calls a webhook by URL or as a service',
      withWebhook({ clientConfig: {}, conversionReviewVersions: ['v1'] }),
      [
        'spec.conversion.webhookClientConfig: Required value: ' +
          'exactly one of url or service is required',
      ],
    ],
    [
      'names the service',
      withWebhook({
        clientConfig: { service: { name: '', namespace: 'n', port: 1 } },
        conversionReviewVersions: ['v1'],
      }),
      ['spec.conversion.webhookClientConfig.service.name: Required value'],
    ],
    [
      'names the namespace of the service',
      withWebhook({
        clientConfig: { service: { name: 'n', namespace: '', port: 1 } },
        conversionReviewVersions: ['v1'],
      }),
      ['spec.conversion.webhookClientConfig.service.namespace: Required value'],
    ],
    [
      'speaks a version of reviews that is known, each once',
      withWebhook({ clientConfig: { url: 'https://a' }, conversionReviewVersions: ['x', 'x'] }),
      [
        'spec.conversion.conversionReviewVersions[1]: Invalid value: "x": duplicate version',
        'spec.conversion.conversionReviewVersions: Invalid value: ["x","x"]: ' +
          'must include at least one of v1, v1beta1',
      ],
    ],
    [
      'may have a bundle of certificates that is none, until it is established',
      withWebhook({
        clientConfig: { url: 'https://a', caBundle: 'YWJj' },
        conversionReviewVersions: ['v1'],
      }),
      [],
    ],
    [
      'is approved in a protected group',
      withSpec({ group: 'a.k8s.io' }),
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must ' +
          'have approval annotation "api-approved.kubernetes.io", see ' +
          'https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    [
      'is approved by a URL, or says that it is not',
      ({ spec, metadata }) => {
        spec['group'] = 'x.kubernetes.io';
        metadata['annotations'] = { 'api-approved.kubernetes.io': 'yes' };
      },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Invalid value: "yes": protected groups ' +
          'must have approval annotation "api-approved.kubernetes.io" with either a URL or a ' +
          'reason starting with "unapproved", see ' +
          'https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    [
      'knows the version that is stored',
      ({ status }) => (status['storedVersions'] = ['v0']),
      [
        'status.storedVersions: Invalid value: ["v0"]: must have the storage version v1',
        'status.storedVersions[0]: Invalid value: "v0": missing from spec.versions; v0 was ' +
          'previously a storage version, and must remain in spec.versions until a storage ' +
          'migration ensures no data remains persisted in v0 and removes v0 from ' +
          'status.storedVersions',
      ],
    ],
    [
      'has labels for accepted names',
      ({ status }) => (status['acceptedNames'] = { plural: 'X' }),
      [`status.acceptedNames.plural: Invalid value: "X": ${label}`],
    ],
  ])('%s', (_name, change, errors) => {
    expect(created(change)).toEqual(errors);
  });

  test.each<[string, JsonValue, readonly string[]]>([
    [
      'more than eight',
      Array.from({ length: 9 }, (_item, at) => `.spec.f${String(at)}`),
      ['spec.selectableFields: Too many: 9: must have at most 8 items'],
    ],
    [
      'the same twice',
      ['.spec.f1', '.spec.f1'],
      ['spec.selectableFields[1].jsonPath: Duplicate value: ".spec.f1"'],
    ],
    [
      'a field of metadata that no schema lists',
      ['.metadata.name'],
      [
        'spec.selectableFields[0].jsonPath: Invalid value: ".metadata.name": is an invalid path: ' +
          'does not refer to a valid field',
      ],
    ],
    [
      'an index',
      ['.spec.f1[0]'],
      [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.f1[0]": is an invalid path: ' +
          'array notation is not allowed',
      ],
    ],
    [
      'an object',
      ['.spec'],
      [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type ' +
          'string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ],
    ],
  ])('selects by no field of this kind: %s', (_name, paths, errors) => {
    const fields = Array.from({ length: 9 }, (_item, at) => [`f${String(at)}`, { type: 'string' }]);
    const selectableFields = (paths as string[]).map((jsonPath) => ({ jsonPath }));
    const change = withVersion({
      schema: schemaOf(Object.fromEntries(fields) as JsonObject),
      selectableFields,
    });
    expect(created(change)).toEqual(errors);
  });
});

describe('the schema of a new definition', () => {
  test('beside a status subresource shows the whole schema in the internal form', () => {
    const [error = ''] = created(
      withVersion({ subresources: { status: {} }, schema: schemaOf({}, { minProperties: 0 }) }),
    );
    expect(error).toContain(
      `${root}: Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","Type":"object",` +
        '"Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,',
    );
    expect(error).toContain('"MinProperties":0,"Required":null,"Items":null,');
    expect(error).toMatch(
      /: only \[Description Type .* XValidations\] fields are allowed at the root of the schema/,
    );
  });

  test.each<[string, JsonObject, readonly string[]]>([
    [
      'a rule that is blank',
      rules({ rule: ' ' }),
      [`${rulePath(0)}.rule: Required value: rule is not specified`],
    ],
    [
      'a message that is blank',
      rules({ rule: 'true', message: ' ' }),
      [`${rulePath(0)}.message: Invalid value: " ": must be non-empty if specified`],
    ],
    [
      'a message of two lines',
      rules({ rule: 'true', message: 'a\nb' }),
      [`${rulePath(0)}.message: Invalid value: "a\\nb": must not contain line breaks`],
    ],
    [
      'a rule of two lines without a message',
      rules({ rule: 'true\n|| true' }, { rule: '\ntrue\n' }),
      [
        `${rulePath(0)}.message: Required value: ` +
          'message must be specified if rule contains line breaks',
      ],
    ],
    [
      'a path that leads nowhere',
      rules({ rule: 'nope', fieldPath: '.x' }),
      [`${rulePath(0)}.fieldPath: Invalid value: ".x": must be a valid path`],
    ],
    [
      'a rule that is no claim, shown with all its members',
      rules({ rule: '1' }),
      [
        `${rulePath(0)}.rule: Invalid value: {"Rule":"1","Message":"","MessageExpression":"",` +
          '"Reason":null,"FieldPath":"","OptionalOldSelf":null}: ' +
          'cel expression must evaluate to a bool',
      ],
    ],
    [
      'an optional oldSelf that nobody uses',
      rules({ rule: 'true', optionalOldSelf: true }),
      [
        `${rulePath(0)}.optionalOldSelf: Invalid value: true: ` +
          'may not be set if oldSelf is not used in rule',
      ],
    ],
    [
      'failures of expressions come after those of the schema',
      { ...rules({ rule: 'nope' }), format: 'date' },
      [expect.stringContaining(`${rulePath(0)}.rule: Invalid value: `) as unknown as string],
    ],
  ])('refuses %s', (_name, a, errors) => {
    expect(created(withProperties({ a }))).toEqual(errors);
  });

  test('oldSelf is for values that have an older one, also in atomic maps', () => {
    const change = rules({ rule: 'self == oldSelf' });
    const list = {
      type: 'array',
      maxItems: 2,
      items: { type: 'array', maxItems: 2, items: change },
    };
    const map = { type: 'object', [`${prefix}map-type`]: 'atomic', properties: { b: change } };
    expect(created(withProperties({ list, map }))).toEqual([
      `${inSpec}[list].items.items.${prefix}validations[0].rule: Invalid value: ` +
        '"self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema ' +
        `within ${inSpec}[list]`,
    ]);
  });

  test('names the four dearest rules of a schema that is too dear as a whole', () => {
    const property = (maxLength: number): JsonObject => ({
      ...{ type: 'string', maxLength },
      [`${prefix}validations`]: [{ rule: 'self.contains(self)' }],
    });
    const properties = Object.fromEntries(
      Array.from({ length: 30 }, (_item, at) => [`f${String(at)}`, property(5_000)]),
    );
    const errors = created(withProperties({ ...properties, dear: property(5_100) }));
    expect(errors).toHaveLength(5);
    expect(errors[0]).toBe(
      `${inSpec}[dear].${prefix}validations[0].rule: Forbidden: contributed to estimated rule ` +
        'cost total exceeding cost limit for entire OpenAPIv3 schema',
    );
    expect(errors[4]).toMatch(
      /^spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of \d\.\d+x \(try/,
    );
  });

  test('names such as those of prototypes are names like any other', () => {
    const properties = JSON.parse(
      '{"__proto__":{"type":"string","default":"a"},"constructor":{"type":"integer","default":"x"}}',
    ) as JsonObject;
    expect(created(withProperties(properties))).toEqual([
      `${inSpec}[constructor].default: Invalid value: "string":  in body must be of type ` +
        'integer: "string"',
    ]);
  });
});

describe('an update', () => {
  const updated = (old: Definition, change: Change): readonly string[] => {
    const object = JSON.parse(JSON.stringify(old)) as Definition;
    change(object);
    return told(object, old).errors;
  };
  const touched = withSpec({
    names: { plural: 'ws', singular: 'v', kind: 'W', listKind: 'WList' },
  });

  test.each<[string, Change, readonly Change[], readonly string[]]>([
    [
      'a group never changes',
      withSpec({ group: 'f.com' }),
      [],
      ['spec.group: Invalid value: "f.com": field is immutable'],
    ],
    ['a scope may change before it is established', withSpec({ scope: 'Cluster' }), [], []],
    [
      'and not later',
      withSpec({ scope: 'Cluster' }),
      [established],
      ['spec.scope: Invalid value: "Cluster": field is immutable'],
    ],
    [
      'a kind is fixed once established',
      names({ kind: 'X' }),
      [established],
      ['spec.names.kind: Invalid value: "X": field is immutable'],
    ],
  ])('%s', (_name, change, stored, errors) => {
    expect(updated(definition(...stored), change)).toEqual(errors);
  });

  const setOfObjects = {
    ...{ type: 'array', items: { type: 'object' } },
    [`${prefix}list-type`]: 'set',
  };
  const nullableKey = {
    type: 'array',
    [`${prefix}list-type`]: 'map',
    [`${prefix}list-map-keys`]: ['k'],
    items: { type: 'object', properties: { k: { type: 'string' } } },
  };
  test.each<[string, JsonObject]>([
    ['a type that does not exist', { type: 'x' }],
    ['a set of maps that are merged', setOfObjects],
    ['a key that may be absent', nullableKey],
    ['a default with unknown fields', { type: 'object', default: { z: 1 } }],
  ])('may keep %s, which a new definition may not have', (_name, a) => {
    const old = definition(withProperties({ a }));
    expect(told(old).errors).not.toEqual([]);
    expect(updated(old, touched)).toEqual([]);
    expect(updated(old, withProperties({ a, b: { type: 'string' } }))).toEqual([]);
  });

  test('may go without schemas where it always did', () => {
    const noSchema: Change = ({ spec }) => delete spec.versions[0]?.schema;
    const old = definition(noSchema, withSpec({ preserveUnknownFields: true }));
    expect(updated(old, touched)).toEqual([]);
    expect(updated(old, withSpec({ preserveUnknownFields: false }))).toEqual([
      'spec.versions[0].schema.openAPIV3Schema: Required value: ' +
        'because otherwise all fields are pruned',
    ]);
  });

  test('may keep a form that is not structural, but for a default or a word of the product', () => {
    const loose = { a: { description: 'no type' } };
    const old = definition(withProperties(loose), withSpec({ preserveUnknownFields: true }));
    expect(updated(old, touched)).toEqual([]);
    const wrong = `${inSpec}[a].type: Required value: must not be empty for specified object fields`;
    const list = { type: 'array', items: { type: 'string' }, [`${prefix}list-type`]: 'set' };
    expect(updated(old, withProperties({ ...loose, list }))).toEqual([wrong]);
    expect(updated(old, withSpec({ preserveUnknownFields: false }))).toEqual([wrong]);
    const given = withProperties({ ...loose, b: { type: 'string', default: 'x' } });
    expect(updated(old, given)).toEqual([
      'spec.preserveUnknownFields: Invalid value: true: ' +
        'must be false in order to use defaults in the schema',
      wrong,
    ]);
  });

  test('may keep a rule that is too dear alone, in a version that is unchanged', () => {
    const dear = { type: 'string', [`${prefix}validations`]: [{ rule: 'self.contains(self)' }] };
    const one: Change = withProperties({ a: { ...dear, maxLength: 10_000 } });
    expect(created(one)).toEqual([expect.stringContaining('estimated rule cost exceeds budget')]);
    expect(updated(definition(one), touched)).toEqual([]);
    const all: Change = withProperties({ a: dear });
    expect(updated(definition(all), touched)).toEqual([
      expect.stringContaining('contributed to estimated rule cost total'),
      expect.stringContaining('estimated rule cost total for entire OpenAPIv3 schema'),
    ]);
  });

  test('may keep versions of reviews that nobody knows', () => {
    const change = withWebhook({
      clientConfig: { url: 'https://a' },
      conversionReviewVersions: ['v9'],
    });
    expect(created(change)).toHaveLength(1);
    expect(updated(definition(change), touched)).toEqual([]);
  });

  test('may keep more than eight selectable fields while they are the same', () => {
    const count = Array.from({ length: 9 }, (_item, at) => String(at));
    const schema = schemaOf(Object.fromEntries(count.map((at) => [`f${at}`, { type: 'string' }])));
    const selectableFields = count.map((at) => ({ jsonPath: `.spec.f${at}` }));
    const old = definition(withVersion({ schema, selectableFields }));
    expect(updated(old, touched)).toEqual([]);
    const turned = withVersion({ selectableFields: [...selectableFields].reverse() });
    expect(updated(old, turned)).toHaveLength(1);
  });

  const bundle = (caBundle: string): Change =>
    withWebhook({
      clientConfig: { url: 'https://a', caBundle },
      conversionReviewVersions: ['v1'],
    });
  const invalidBundle = 'YWJj';
  test.each<[string, Change, string, number]>([
    ['refused where it was valid', bundle(''), invalidBundle, 1],
    ['kept where it was invalid', bundle('eHl6'), invalidBundle, 0],
    ['taken where it is blank', bundle(''), 'Cg==', 0],
  ])('a bundle of certificates of an established definition is %s', (_name, stored, now, count) => {
    expect(updated(definition(stored, established), bundle(now))).toHaveLength(count);
  });

  test('says what is wrong with a bundle', () => {
    expect(updated(definition(bundle(''), established), bundle(invalidBundle))).toEqual([
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: "YWJj": unable to load root ' +
        'certificates: data does not contain any valid RSA or ECDSA certificates',
    ]);
  });

  test('approval is looked at where its state changes', () => {
    const approved =
      (text: string): Change =>
      ({ metadata }) =>
        (metadata['annotations'] = { 'api-approved.kubernetes.io': text });
    const old = definition(withSpec({ group: 'x.k8s.io' }), approved('no'));
    expect(updated(old, approved('never'))).toEqual([]);
    expect(updated(old, approved('https://a/b'))).toEqual([]);
    expect(updated(old, ({ metadata }) => delete metadata['annotations'])).toHaveLength(1);
  });

  test('expressions that are stored may use what newer servers take, new ones may not', () => {
    const value = (more: JsonObject): JsonObject => ({
      type: 'object',
      properties: { if: { type: 'string' } },
      [`${prefix}validations`]: [{ rule: 'self.if == ""' }],
      ...more,
    });
    const specOf = (a: JsonObject): JsonObject => definition(withProperties({ a })).spec;
    const spec = specOf(value({ description: 'changed' }));
    const errorsBeside = (before: JsonObject): readonly string[] => {
      const schemas = new DefinitionSchemas({ naming, spec, before, celVersion: 29 });
      const of = { hasStatus: false, version: 'v1' };
      const schema = recordsAt(spec, 'versions')[0]?.['schema'] as JsonObject;
      const given = schema['openAPIV3Schema'] as JsonObject;
      return atOnce(schemas.errors(given, root, of)).map(({ detail }) => detail);
    };
    expect(errorsBeside(specOf(value({})))).toEqual([]);
    expect(errorsBeside(specOf({ type: 'object' }))).toEqual([
      expect.stringContaining("undefined field 'if'"),
    ]);
  });
});

describe('a write of the status', () => {
  test('looks at the accepted names alone', () => {
    const wrong = definition(withSpec({ group: '', scope: 'X' }), ({ status }) =>
      Object.assign(status, { storedVersions: [], acceptedNames: { plural: 'X' } }),
    );
    expect(told(wrong, definition(), 'status').errors).toEqual([
      `status.acceptedNames.plural: Invalid value: "X": ${label}`,
    ]);
  });
});

const unknown = (format: string): string => `unrecognized format ${JSON.stringify(format)}`;

describe('formats that nobody checks', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    ['a format of texts', { a: { type: 'string', format: 'date-time' } }, []],
    ['a format of another type', { a: { type: 'integer', format: 'date' } }, ['date']],
    ['a format that does not exist', { a: { type: 'string', format: 'x' } }, ['x']],
    ['a format of integers', { a: { type: 'integer', format: 'int64' } }, []],
    ['a format of an object', { a: { type: 'object', format: 'date' } }, ['date']],
    [
      'one format at two places',
      { a: { type: 'string', format: 'x' }, b: { type: 'string', not: { format: 'x' } } },
      ['x'],
    ],
  ])('%s', (_name, properties, formats) => {
    const { errors, warnings } = told(definition(withProperties(properties)));
    expect({ errors, warnings }).toEqual({ errors: [], warnings: formats.map(unknown) });
  });

  test('are not told again once they are stored', () => {
    const a = { type: 'string', format: 'x' };
    const b = { type: 'string', format: 'y' };
    const old = definition(withProperties({ a }));
    const now = definition(withProperties({ a, b }));
    expect(told(now, old).warnings).toEqual([unknown('y')]);
  });
});
