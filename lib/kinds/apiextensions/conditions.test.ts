// Conditions of definitions as values, and what approval and CA bundles come to.
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import { createTestCa } from '../../base/testing/certificates.ts';
import { approvalCondition } from './approval.ts';
import { hasInvalidCaBundle } from './ca-bundle.ts';
import { withCondition, withoutCondition } from './conditions.ts';
import type { Condition } from './conditions.ts';

const condition: Condition = {
  type: 'Established',
  status: 'True',
  reason: 'R',
  message: 'm',
};
const [before, now] = ['2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z'];
const stored = { ...condition, lastTransitionTime: before };
const other = { type: 'Other', status: 'True', lastTransitionTime: before };

describe('setting a condition', () => {
  test.each<[string, JsonObject[], JsonObject[]]>([
    ['adds it with the time', [other], [other, { ...stored, lastTransitionTime: now }]],
    [
      'keeps the time where only reason and message change',
      [{ ...stored, reason: 'x', message: 'y' }, other],
      [stored, other],
    ],
    [
      'takes the time where the status changes',
      [{ ...stored, status: 'False' }],
      [{ ...stored, lastTransitionTime: now }],
    ],
    [
      'takes the time where there is none',
      [{ ...stored, lastTransitionTime: null }],
      [{ ...stored, lastTransitionTime: now }],
    ],
    [
      'leaves observedGeneration unset',
      [{ ...stored, message: 'y', observedGeneration: 3 }],
      [stored],
    ],
  ])('%s', (_claim, conditions, expected) => {
    expect(withCondition(conditions, condition, now)).toEqual(expected);
  });

  test('that is the same gives the same list', () => {
    const conditions = [{ ...stored, observedGeneration: 3 }];
    expect(withCondition(conditions, condition, now)).toBe(conditions);
    expect(withoutCondition(conditions, 'Terminating')).toBe(conditions);
    expect(withoutCondition(conditions, 'Established')).toEqual([]);
  });
});

describe('approval', () => {
  const naming = namingProfile('kubernetes');
  const key = naming.resolve('api-approved.{kubernetes}.io');
  const reading = 'see https://github.com/kubernetes/enhancements/pull/1111';
  const wanted = `protected groups must have approval annotation "${key}"`;
  const either = `${wanted} with either a URL or a reason starting with "unapproved", ${reading}`;
  const ofGroup = (group: string, text?: string): Condition | undefined =>
    approvalCondition(
      { metadata: text === undefined ? {} : { annotations: { [key]: text } }, spec: { group } },
      naming,
    );
  const domains = [naming.resolve('{v}'), naming.resolve('{kubernetes}.io')];

  test('concerns groups of the domains of the product, and no other', () => {
    for (const domain of domains) {
      expect(ofGroup(domain)).toBeDefined();
      expect(ofGroup(`a.${domain}`)).toBeDefined();
      expect(ofGroup(`a${domain}`)).toBeUndefined();
      expect(ofGroup(`${domain}.com`)).toBeUndefined();
    }
  });

  test.each([
    [undefined, 'False', 'MissingAnnotation', `${wanted}, ${reading}`],
    ['', 'False', 'MissingAnnotation', `${wanted}, ${reading}`],
    ['yes', 'False', 'InvalidAnnotation', either],
    ['https://', 'False', 'InvalidAnnotation', either],
    ['/pull/1', 'False', 'InvalidAnnotation', either],
    [
      'unapproved, a "test"',
      'False',
      'UnapprovedAnnotation',
      'not approved: "unapproved, a \\"test\\""',
    ],
    ['https://example.com/1', 'True', 'ApprovedAnnotation', 'approved in https://example.com/1'],
  ])('%j: %s %s', (text, status, reason, message) => {
    const type = 'KubernetesAPIApprovalPolicyConformant';
    expect(ofGroup(domains[0] ?? '', text)).toEqual({ type, status, reason, message });
  });
});

describe('a CA bundle', () => {
  let pem = '';
  beforeAll(async () => {
    pem = (await createTestCa('a test')).cert;
  });
  const none = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  const isInvalid = (text: string | undefined): boolean =>
    hasInvalidCaBundle({
      spec: {
        conversion: {
          webhook: {
            clientConfig:
              text === undefined ? {} : { caBundle: Buffer.from(text).toString('base64') },
          },
        },
      },
    });

  test.each<[string, () => string | undefined, boolean]>([
    ['absent: nothing against it', () => undefined, false],
    ['blank: nothing against it', () => ' \n\t', false],
    ['certificates: nothing against them', () => `${pem}\n# and\n${pem}`, false],
    ['text', () => 'x', true],
    ['a certificate that is none', () => none, true],
    ['one of several', () => `${pem}\n${none}`, true],
  ])('%s', (_claim, text, expected) => {
    expect(isInvalid(text())).toBe(expected);
  });
});
