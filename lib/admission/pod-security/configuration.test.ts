import { describe, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import { parsePodSecurityConfiguration } from './configuration.ts';
import { laxestPolicy, policyText } from './policy.ts';

const naming = namingProfile('svc');
const group = 'pod-security.admission.config.svc.io';
const typed = (members: object, apiVersion = `${group}/v1`): object => ({
  apiVersion,
  kind: 'PodSecurityConfiguration',
  ...members,
});

test.each([[undefined], [null], [typed({})], [typed({ defaults: null, exemptions: {} })]])(
  '%j configures nothing',
  (object) => {
    const nobody = new Set();
    expect(parsePodSecurityConfiguration(object, naming)).toEqual({
      defaults: laxestPolicy,
      exemptions: { usernames: nobody, namespaces: nobody, runtimeClasses: nobody },
    });
  },
);

test.each(['v1', 'v1beta1', 'v1alpha1'])('%s is read', (version) => {
  const object = typed(
    {
      defaults: { enforce: 'baseline', 'enforce-version': 'v1.7', warn: 'restricted', audit: '' },
      exemptions: {
        usernames: ['alice', 'system:serviceaccount:a:b'],
        namespaces: ['kept'],
        runtimeClasses: ['a.b'],
      },
    },
    `${group}/${version}`,
  );
  const { defaults, exemptions } = parsePodSecurityConfiguration(object, naming);
  expect([defaults.enforce, defaults.audit, defaults.warn].map(policyText)).toEqual([
    'baseline:v1.7',
    'privileged:latest',
    'restricted:latest',
  ]);
  expect(exemptions).toEqual({
    usernames: new Set(['alice', 'system:serviceaccount:a:b']),
    namespaces: new Set(['kept']),
    runtimeClasses: new Set(['a.b']),
  });
});

describe('what is wrong is named', () => {
  test.each([
    [[], /^PodSecurityConfiguration: Invalid value: \[\]: must be a PodSecurityConfiguration/],
    ['text', /^PodSecurityConfiguration: Invalid value: "text"/],
    [{ kind: 'PodSecurityConfiguration' }, /^apiVersion: Unsupported value: "": .*\/v1beta1"/],
    [typed({}, `${group}/v99`), /^apiVersion: Unsupported value: ".*\/v99"/],
    [typed({}, 'apps/v1'), /^apiVersion: Unsupported value: "apps\/v1"/],
    [{ ...typed({}), kind: 'Other' }, /^kind: Unsupported value: "Other"/],
    [typed({ deflaults: {} }), /^deflaults: Forbidden: unknown field$/],
    [typed({ defaults: [] }), /^defaults: Invalid value: \[\]: must be an object$/],
    [typed({ defaults: { enforced: 'x' } }), /^defaults\.enforced: Forbidden: unknown field$/],
    [
      typed({ defaults: { warn: 'strict' } }),
      /^defaults\.warn: Invalid value: "strict": must be one of privileged, baseline, restricted$/,
    ],
    [
      typed({ defaults: { 'audit-version': 1.2 } }),
      /^defaults\.audit-version: Invalid value: 1\.2: must be "latest" or "v1\.x"$/,
    ],
    [typed({ exemptions: { users: [] } }), /^exemptions\.users: Forbidden: unknown field$/],
    [typed({ exemptions: { usernames: 'a' } }), /^exemptions\.usernames: .*must be a list/],
    [typed({ exemptions: { usernames: [1] } }), /^exemptions\.usernames\[0\]: .*must be a string$/],
    [typed({ exemptions: { usernames: [''] } }), /^exemptions\.usernames\[0\]: Required value$/],
    [
      typed({ exemptions: { usernames: ['a', 'a'] } }),
      /^exemptions\.usernames\[1\]: Duplicate value: "a"$/,
    ],
    [typed({ exemptions: { namespaces: ['A'] } }), /^exemptions\.namespaces\[0\]: .*RFC 1123/],
    [typed({ exemptions: { runtimeClasses: ['a_'] } }), /^exemptions\.runtimeClasses\[0\]: /],
    [typed({ defaults: { warn: 'x', audit: 'y' } }), /^defaults\.audit: .*; defaults\.warn: /],
  ])('%j', (object, message) => {
    expect(() => parsePodSecurityConfiguration(object, naming)).toThrow(message);
  });
});
