// Each rule of the spec of a definition, with the path, the kind and the text of its error.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import {
  created,
  established,
  definition,
  label,
  names,
  schemaOf,
  told,
  withSpec,
  withVersion,
  withWebhook,
} from './testing/definitions.ts';
import type { Change } from './testing/definitions.ts';

type Row = [claim: string, change: Change, errors: readonly string[]];

const named =
  (name: string): Change =>
  ({ metadata }) =>
    (metadata['name'] = name);
const invalid = (field: string, value: JsonValue, detail: string): string =>
  `${field}: Invalid value: ${JSON.stringify(value)}: ${detail}`;
const subdomain =
  'a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, ' +
  "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', " +
  "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*" +
  "[a-z0-9])?)*')";
const deprecated = (deprecationWarning: string): Change =>
  withVersion({ deprecated: true, deprecationWarning });
const at = 'spec.versions[0].deprecationWarning';

describe('names', () => {
  test.each<Row>([
    [
      'a group is a DNS-1123 subdomain',
      withSpec({ group: 'E.com' }),
      [invalid('spec.group', 'E.com', subdomain)],
    ],
    ...['plural', 'singular'].map((name): Row => [
      `${name} is a DNS-1035 label`,
      names({ [name]: 'W' }),
      [invalid(`spec.names.${name}`, 'W', label)],
    ]),
    ...['kind', 'listKind'].map((name): Row => [
      `${name}, lower-cased, is a DNS-1035 label`,
      names({ [name]: '1' }),
      [
        invalid(
          `spec.names.${name}`,
          '1',
          `may have mixed case, but should otherwise match: ${label}`,
        ),
      ],
    ]),
    ...['singular', 'shortNames', 'categories', 'kind', 'listKind'].map((name): Row => {
      const isList = name.endsWith('s');
      const mixed = /[kK]ind/.test(name) ? 'may have mixed case, but should otherwise match: ' : '';
      return [
        `acceptedNames.${name} too`,
        ({ status }) => (status['acceptedNames'] = { [name]: isList ? ['1'] : '1' }),
        [invalid(`status.acceptedNames.${name}${isList ? '[0]' : ''}`, '1', mixed + label)],
      ];
    }),
  ])('%s', (_claim, change, errors) => {
    expect(created(change)).toEqual(errors);
  });
});

describe('versions', () => {
  test.each<Row>([
    [
      'have unique names',
      ({ spec }) => spec.versions.push({ ...spec.versions[0], storage: false }),
      [expect.stringMatching(/^spec\.versions: .*: must contain unique version names$/) as never],
    ],
    [
      'at most one of them is stored',
      ({ spec }) => spec.versions.unshift({ ...spec.versions[0], name: 'v1' }),
      [
        expect.stringMatching(/must contain unique version names$/) as never,
        expect.stringMatching(
          /^spec\.versions: .*: must have exactly one version marked as storage version$/,
        ) as never,
        expect.stringMatching(/^status\.storedVersions: /) as never,
      ],
    ],
    [
      'a warning has at most 256 bytes',
      deprecated('é'.repeat(129)),
      [invalid(at, 'é'.repeat(129), 'must be <= 256 characters long')],
    ],
    ['a warning of 256 bytes is right', deprecated('é'.repeat(128)), []],
    [
      'the stored versions are not none',
      ({ status }) => (status['storedVersions'] = []),
      [invalid('status.storedVersions', null, 'must have at least one stored version')],
    ],
  ])('%s', (_claim, change, errors) => {
    expect(created(change)).toEqual(errors);
  });
});

const column = (members: JsonObject): Change =>
  withVersion({
    additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a', ...members }],
  });
const columns = 'spec.additionalPrinterColumns[0]';
const scale = (members: JsonObject): Change =>
  withVersion({
    subresources: {
      scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r', ...members },
    },
  });
const scaled = 'spec.subresources.scale';
const simple = 'must be a simple json path starting with .';

describe('columns and scales', () => {
  test.each<Row>([
    ['a column has a name', column({ name: '' }), [`${columns}.name: Required value`]],
    [
      'a column has a type',
      column({ type: '' }),
      [`${columns}.type: Required value: must be one of boolean,date,integer,number,string`],
    ],
    [
      'a column has a type that is known',
      column({ type: 'x' }),
      [invalid(`${columns}.type`, 'x', 'must be one of boolean,date,integer,number,string')],
    ],
    [
      'a column has a format that is known',
      column({ format: 'x' }),
      [
        invalid(
          `${columns}.format`,
          'x',
          'must be one of byte,date,date-time,double,float,int32,int64,password',
        ),
      ],
    ],
    ['a column has a path', column({ jsonPath: '' }), [`${columns}.JSONPath: Required value`]],
    [
      'the path of a column begins with .',
      column({ jsonPath: 'a' }),
      [invalid(`${columns}.JSONPath`, 'a', simple)],
    ],
    [
      'specReplicasPath is present',
      scale({ specReplicasPath: '' }),
      [`${scaled}.specReplicasPath: Required value`],
    ],
    [
      'specReplicasPath begins with .',
      scale({ specReplicasPath: 'spec.r' }),
      [invalid(`${scaled}.specReplicasPath`, 'spec.r', simple)],
    ],
    [
      'specReplicasPath is below .spec',
      scale({ specReplicasPath: '.status.r' }),
      [invalid(`${scaled}.specReplicasPath`, '.status.r', 'should be a json path under .spec')],
    ],
    [
      'statusReplicasPath is present',
      scale({ statusReplicasPath: '' }),
      [`${scaled}.statusReplicasPath: Required value`],
    ],
    [
      'statusReplicasPath is below .status',
      scale({ statusReplicasPath: '.spec.r' }),
      [invalid(`${scaled}.statusReplicasPath`, '.spec.r', 'should be a json path under .status')],
    ],
    ...['.spec.s', '.status.s'].map((labelSelectorPath): Row => [
      `labelSelectorPath may be ${labelSelectorPath}`,
      scale({ labelSelectorPath }),
      [],
    ]),
    [
      'labelSelectorPath is below .spec or .status',
      scale({ labelSelectorPath: '.metadata.s' }),
      [
        invalid(
          `${scaled}.labelSelectorPath`,
          '.metadata.s',
          'should be a json path under either .spec or .status',
        ),
      ],
    ],
  ])('%s', (_claim, change, errors) => {
    expect(created(change)).toEqual(errors);
  });

  test('versions that differ are told one by one', () => {
    const wrong = { additionalPrinterColumns: [{ name: '', type: 'string', jsonPath: '.a' }] };
    const two: Change = ({ spec }) =>
      spec.versions.push({ ...spec.versions[0], name: 'v2', storage: false, ...wrong });
    expect(created(two)).toEqual([
      'spec.versions[1].additionalPrinterColumns[0].name: Required value',
    ]);
  });
});

describe('selectable fields', () => {
  const selected = (paths: readonly string[], properties: JsonObject): Change =>
    withVersion({
      schema: schemaOf(properties, {}),
      selectableFields: paths.map((jsonPath) => ({ jsonPath })),
    });
  const field = 'spec.selectableFields[0].jsonPath';
  test.each<Row>([
    [
      'are strings, booleans and integers, also with enum or format',
      selected(['.spec.a', '.spec.b', '.spec.c', '.spec.d'], {
        a: { type: 'string', format: 'date' },
        b: { type: 'boolean' },
        c: { type: 'integer' },
        d: { type: 'string', enum: ['x'] },
      }),
      [],
    ],
    ['have a path', selected([''], {}), [`${field}: Required value`]],
    [
      'are no numbers',
      selected(['.spec.a'], { a: { type: 'number' } }),
      [
        invalid(
          field,
          '.spec.a',
          'must point to a field of type string, boolean or integer. ' +
            'Enum string fields and strings with formats are allowed.',
        ),
      ],
    ],
    [
      'are not in metadata that the schema lists',
      (made) => {
        selected(['.metadata.name'], {})(made);
        const schema = made.spec.versions[0]?.schema?.['openAPIV3Schema'] as JsonObject;
        (schema['properties'] as JsonObject)['metadata'] = {
          type: 'object',
          properties: { name: { type: 'string' } },
        };
      },
      [invalid(field, '.metadata.name', 'must not point to fields in metadata')],
    ],
  ])('%s', (_claim, change, errors) => {
    expect(created(change)).toEqual(errors);
  });
});

describe('a conversion webhook', () => {
  const client = 'spec.conversion.webhookClientConfig';
  const url = (text: string): Change =>
    withWebhook({ clientConfig: { url: text }, conversionReviewVersions: ['v1'] });
  const service = (members: JsonObject): Change =>
    withWebhook({
      clientConfig: { service: { name: 'n', namespace: 'm', port: 443, ...members } },
      conversionReviewVersions: ['v1'],
    });
  const form = '; desired format: https://host[/path]';
  const segment = 'a lowercase RFC 1123 subdomain must consist of';
  test.each<Row>([
    [
      'has one of url and service, not both',
      withWebhook({
        clientConfig: { url: 'https://a', service: { name: 'n', namespace: 'm', port: 443 } },
        conversionReviewVersions: ['v1'],
      }),
      [`${client}: Required value: exactly one of url or service is required`],
    ],
    [
      'has an https URL',
      url('http://a'),
      [invalid(`${client}.url`, 'http', `'https' is the only allowed URL scheme${form}`)],
    ],
    [
      'has a host in its URL',
      url('https:///p'),
      [invalid(`${client}.url`, '', `host must be specified${form}`)],
    ],
    [
      'has no user in its URL',
      url('https://u@a'),
      [invalid(`${client}.url`, 'u', 'user information is not permitted in the URL')],
    ],
    [
      'has no fragment in its URL',
      url('https://a#f'),
      [invalid(`${client}.url`, 'f', 'fragments are not permitted in the URL')],
    ],
    [
      'has no query in its URL',
      url('https://a?q'),
      [invalid(`${client}.url`, 'q', 'query parameters are not permitted in the URL')],
    ],
    [
      'has a port from 1 to 65535',
      service({ port: 65536 }),
      [
        invalid(
          `${client}.service.port`,
          65536,
          'port is not valid: must be between 1 and 65535, inclusive',
        ),
      ],
    ],
    [
      'has a path from the root',
      service({ path: 'a' }),
      [
        invalid(`${client}.service.path`, 'a', "must start with a '/'"),
        invalid(`${client}.service.path`, 'a', 'segment[0] may not be empty'),
      ],
    ],
    [
      'has no empty segment in its path',
      service({ path: '/a//b' }),
      [invalid(`${client}.service.path`, '/a//b', 'segment[1] may not be empty')],
    ],
    [
      'has segments that are DNS-1123 subdomains',
      service({ path: '/A' }),
      [
        expect.stringContaining(
          invalid(`${client}.service.path`, '/A', `segment[0]: ${segment}`),
        ) as never,
      ],
    ],
    [
      'has labels for versions of reviews',
      withWebhook({
        clientConfig: { url: 'https://a' },
        conversionReviewVersions: ['v1', 'V'],
      }),
      [invalid('spec.conversion.conversionReviewVersions[1]', 'V', label)],
    ],
    [
      'has a strategy',
      withSpec({ conversion: { strategy: '' } }),
      ['spec.conversion.strategy: Required value'],
    ],
  ])('%s', (_claim, change, errors) => {
    expect(created(change)).toEqual(errors);
  });

  test('is none where unknown fields are kept everywhere', () => {
    const change: Change = (made) => {
      withWebhook({ clientConfig: { url: 'https://a' }, conversionReviewVersions: ['v1'] })(made);
      made.spec['preserveUnknownFields'] = true;
    };
    const old = definition(withSpec({ preserveUnknownFields: true }));
    expect(told(definition(change), old).errors).toEqual([
      invalid(
        'spec.conversion.strategy',
        'Webhook',
        'must be None if spec.preserveUnknownFields is true',
      ),
    ]);
  });
});

test('the plural never changes', () => {
  const now = definition(names({ plural: 'vs' }), named('vs.e.com'));
  const { errors } = told(now, definition());
  expect(errors).toContain('spec.names.plural: Invalid value: "vs": field is immutable');
});

test('a scope and a kind are fixed once Established', () => {
  const now = definition(withSpec({ scope: 'Cluster' }), names({ kind: 'X' }), established);
  expect(told(now, definition(established)).errors).toEqual([
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.names.kind: Invalid value: "X": field is immutable',
  ]);
});
