import { expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import { fieldErrorMessage } from '../../base/status.ts';
import { askedPolicy, isStricter, laxestPolicy, policyText } from './policy.ts';
import type { Policy } from './policy.ts';

const naming = namingProfile('svc');

function shown(labels: Record<string, string> | undefined, defaults = laxestPolicy): string[] {
  const prefixed = new Map(
    Object.entries(labels ?? {}).map(([key, value]) => [`pod-security.svc.io/${key}`, value]),
  );
  const given = labels === undefined ? undefined : Object.fromEntries(prefixed);
  const { policy, problems } = askedPolicy(given, defaults, naming);
  return [
    [policy.enforce, policy.audit, policy.warn].map(policyText).join(' '),
    ...problems.map((problem) => `${problem.field}: ${fieldErrorMessage(problem)}`),
  ];
}

const lax = 'privileged:latest';

test.each([
  [undefined, [`${lax} ${lax} ${lax}`]],
  [{}, [`${lax} ${lax} ${lax}`]],
  [{ enforce: 'baseline' }, [`baseline:latest ${lax} baseline:latest`]],
  [{ enforce: 'baseline', warn: 'privileged' }, [`baseline:latest ${lax} ${lax}`]],
  [{ enforce: 'baseline', 'enforce-version': 'v1.9' }, [`baseline:v1.9 ${lax} baseline:v1.9`]],
  [
    { enforce: 'baseline', 'enforce-version': 'v1.9', 'warn-version': 'v1.3' },
    [`baseline:v1.9 ${lax} baseline:v1.3`],
  ],
  [
    { 'enforce-version': 'v1.9', audit: 'restricted', 'audit-version': 'v1.0' },
    [`privileged:v1.9 restricted:v1.0 ${lax}`],
  ],
  [{ warn: 'baseline', 'warn-version': 'v1.999' }, [`${lax} ${lax} baseline:v1.999`]],
  [
    { enforce: 'strict', audit: 'Baseline', warn: '' },
    [
      `restricted:latest ${lax} ${lax}`,
      'metadata.labels[pod-security.svc.io/enforce]: Invalid value: "strict": ' +
        'must be one of privileged, baseline, restricted',
      'metadata.labels[pod-security.svc.io/audit]: Invalid value: "Baseline": ' +
        'must be one of privileged, baseline, restricted',
      'metadata.labels[pod-security.svc.io/warn]: Invalid value: "": ' +
        'must be one of privileged, baseline, restricted',
    ],
  ],
  ...['v2', 'v1.01', 'v1.', '1.2', 'Latest', 'v1.-1', '', 'v1.99999999999999999999'].map(
    (version): [Record<string, string>, string[]] => [
      { enforce: 'baseline', 'enforce-version': version },
      [
        `baseline:latest ${lax} baseline:latest`,
        'metadata.labels[pod-security.svc.io/enforce-version]: ' +
          `Invalid value: ${JSON.stringify(version)}: must be "latest" or "v1.x"`,
      ],
    ],
  ),
])('%j asks for %j', (labels, expected) => {
  expect(shown(labels)).toEqual(expected);
});

test('labels go before defaults, which stay for what they leave open', () => {
  const asked = { level: 'restricted', version: 20 } as const;
  const defaults: Policy = { enforce: asked, audit: asked, warn: asked };
  expect(shown({ enforce: 'baseline', 'warn-version': 'latest' }, defaults)).toEqual([
    'baseline:v1.20 restricted:v1.20 restricted:latest',
  ]);
});

test.each([
  ['baseline', 'privileged', true],
  ['restricted', 'baseline', true],
  ['baseline', 'baseline', false],
  ['privileged', 'restricted', false],
] as const)('%s is stricter than %s: %s', (one, other, expected) => {
  expect(isStricter(one, other)).toBe(expected);
});
