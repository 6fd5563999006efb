// What new definitions are told, word for word.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import {
  created,
  label,
  names,
  prefix,
  schemaOf,
  withSpec,
  withVersion,
  withWebhook,
} from './testing/definitions.ts';
import type { Change } from './testing/definitions.ts';

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
        'spec.versions[0].deprecationWarning: Invalid value: "é\\n": must only contain ' +
          'printable UTF-8 characters; non-printable character found at index 2',
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
        'spec.conversion.webhookClientConfig: Required value: ' +
          'required when strategy is set to Webhook',
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
        'metadata.annotations[api-approved.kubernetes.io]: Invalid value: "yes": protected ' +
          'groups must have approval annotation "api-approved.kubernetes.io" with either a URL ' +
          'or a reason starting with "unapproved", see ' +
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
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of ' +
          'type string, boolean or integer. Enum string fields and strings with formats are ' +
          'allowed.',
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
