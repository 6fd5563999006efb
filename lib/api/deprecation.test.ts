import { describe, expect, test } from '@jest/globals';
import { deprecationOf } from './deprecation.ts';
import { switches } from '../config/flag-kinds.ts';
import { noKindRules } from './testing/no-kind-rules.ts';
import { createScheme } from './scheme.ts';
import { apiVersionOf } from './type-info.ts';
import type { Life } from './type-info.ts';
import { namingProfile } from './vendor.ts';

const scheme = createScheme({
  rules: noKindRules,
  profile: namingProfile('kubernetes'),
  runtimeConfig: switches.parse('api/all=true'),
});
const kind = { group: 'batch', version: 'v1beta1', kind: 'CronJob' };

describe('what a client is told', () => {
  test.each<[Life, string | undefined]>([
    [{ introduced: '1.8' }, undefined],
    [{ deprecated: '1.37', removed: '1.40' }, undefined],
    [{ deprecated: '1.36' }, 'batch/v1beta1 CronJob is deprecated in v1.36+'],
    [
      { deprecated: '1.21', removed: '1.25', replacement: 'batch/v1/CronJob' },
      'batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob',
    ],
    [
      { deprecated: '1.9', replacement: '/v1/Pod' },
      'batch/v1beta1 CronJob is deprecated in v1.9+; use v1 Pod',
    ],
  ])('%j', (life, warning) => {
    expect(deprecationOf({ kind, life }, '1.36')?.warning).toBe(warning);
  });

  test('of everything that is served', () => {
    const warnings = scheme.resources.flatMap((resource) => {
      const deprecation = deprecationOf(resource, '1.36');
      return deprecation === undefined ? [] : [deprecation.warning];
    });
    expect(warnings).toContain('v1 ComponentStatus is deprecated in v1.19+');
    expect(warnings).toContain(
      'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    );
    // Clients are told of a successor where the kind's description names one.
    expect(warnings).toContain(
      'resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+',
    );
    for (const warning of warnings) expect(warning).toMatch(/^\S+ \w+ is deprecated in v1\.\d+\+/);
  });

  test('betas have an end even where none is given, three releases a step', () => {
    const found = scheme.resource({
      group: 'networking.k8s.io',
      version: 'v1beta1',
      resource: 'ipaddresses',
    });
    expect(found?.life).toEqual({
      introduced: '1.31',
      deprecated: '1.34',
      removed: '1.37',
    });
  });

  test('a version that is served by default is deprecated by its kind alone', () => {
    const served = createScheme({ rules: noKindRules, profile: namingProfile('svc') });
    const deprecated = served.resources.filter((one) => deprecationOf(one, '1.36') !== undefined);
    expect(deprecated.map((one) => `${apiVersionOf(one)} ${one.resource}`).sort()).toEqual([
      'v1 componentstatuses',
      'v1 endpoints',
    ]);
  });
});
