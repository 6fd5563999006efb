import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Scheme } from '../api/scheme.ts';
import { namingProfile } from '../api/vendor.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import type { AuditedRequest, Outcome } from './policy.ts';
import { readPolicy } from './policy-file.ts';

let scheme: Scheme;
beforeAll(() => {
  scheme = builtInScheme({ profile: namingProfile('svc') });
});

const head = { apiVersion: 'audit.svc.io/v1', kind: 'Policy' };
const textOf = (rest: object): string => JSON.stringify({ ...head, ...rest });
const problemOf = (text: string): string => {
  try {
    readPolicy(text, scheme);
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};
const pods: AuditedRequest = {
  verb: 'get',
  isResourceRequest: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'x',
  path: '',
};
const outcomeOf = (text: string): Outcome => readPolicy(text, scheme).outcomeOf(pods, undefined);

describe('a policy that is refused', () => {
  test.each<readonly [string, string]>([
    ['', 'must be of kind Policy'],
    ['rules: [', 'not valid YAML'],
    ['- a', 'must be an object, not a list'],
    [textOf({}), 'the policy has no rules'],
    [textOf({ rules: [] }), 'the policy has no rules'],
    [textOf({ rules: [{ level: 'None', userz: [] }] }), 'unknown field "rules[0].userz"'],
    ['kind: Policy\nkind: Policy\nrules: []', 'duplicate field "kind"'],
    [
      JSON.stringify({ ...head, apiVersion: 'audit.svc.io/v1beta1', rules: [{}] }),
      'version audit.svc.io/v1,',
    ],
    [JSON.stringify({ ...head, kind: 'Policies', rules: [{}] }), 'it is of kind "Policies"'],
    [textOf({ rules: [{ level: 3 }] }), 'rules[0].level must be a string'],
    [textOf({ rules: [{}] }), 'rules[0].level: Required value'],
    [
      textOf({ rules: [{ level: 'Everything' }] }),
      'rules[0].level: Unsupported value: "Everything": supported values: ' +
        '"None", "Metadata", "Request", "RequestResponse"',
    ],
    [
      textOf({ omitStages: ['Whenever'], rules: [{ level: 'None' }] }),
      'omitStages[0]: Invalid value: "Whenever": allowed stages are ' +
        'RequestReceived,ResponseStarted,ResponseComplete,Panic',
    ],
    [
      textOf({ rules: [{ level: 'None', omitStages: ['Panic', 'x'] }] }),
      'rules[0].omitStages[1]: Invalid value: "x"',
    ],
    [
      textOf({ rules: [{ level: 'None', nonResourceURLs: ['/a', 'b'] }] }),
      'rules[0].nonResourceURLs[1]: Invalid value: "b": ' +
        "non-resource URL rules must begin with a '/' character",
    ],
    [
      textOf({ rules: [{ level: 'None', nonResourceURLs: ['/a*/b'] }] }),
      "wildcards '*' must be the final character of the rule",
    ],
    [
      textOf({ rules: [{ level: 'None', nonResourceURLs: ['/a'], namespaces: ['b'] }] }),
      'rules[0].nonResourceURLs: Invalid value: ["/a"]: ' +
        'rules cannot match both regular resources and non-resource URLs',
    ],
    [
      textOf({ rules: [{ level: 'None', resources: [{ group: 'A b' }] }] }),
      'rules[0].resources.group: Invalid value: "A b": a lowercase RFC 1123 subdomain',
    ],
    [
      textOf({ rules: [{ level: 'None', resources: [{ group: '', resourceNames: ['x'] }] }] }),
      'rules[0].resources.resourceNames: Invalid value: ["x"]: ' +
        'using resourceNames requires at least one resource',
    ],
  ])('%s: %s', (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });

  test('names every wrong field at once', () => {
    const text = textOf({ rules: [{ level: 'x' }, { level: 'None', nonResourceURLs: ['b'] }] });
    expect(problemOf(text)).toMatch(/^rules\[0\]\.level: .*; rules\[1\]\.nonResourceURLs\[0\]: /);
  });
});

describe('a policy that is taken', () => {
  test('in YAML, with every field of a rule', () => {
    const outcome = outcomeOf(`
apiVersion: audit.svc.io/v1
kind: Policy
rules:
- level: None
  users: [jane]
- level: Request
  verbs: [get]
  namespaces: [a]
  resources: [{group: "", resources: [pods], resourceNames: [x]}]
`);
    expect(outcome.level).toBe('Request');
  });

  test('stages that are omitted: those of the policy and of the rule', () => {
    const rules = [{ level: 'Metadata', omitStages: ['Panic'] }];
    const { omittedStages } = outcomeOf(textOf({ omitStages: ['RequestReceived'], rules }));
    expect([...omittedStages]).toEqual(['RequestReceived', 'Panic']);
  });

  test.each([
    [undefined, undefined, false],
    [true, undefined, true],
    [true, false, false],
    [false, true, true],
  ])('managed fields: the policy says %s, the rule %s', (policy, rule, omits) => {
    const rules = [
      { level: 'Request', ...(rule === undefined ? {} : { omitManagedFields: rule }) },
    ];
    const text = textOf({ ...(policy === undefined ? {} : { omitManagedFields: policy }), rules });
    expect(outcomeOf(text).omitsManagedFields).toBe(omits);
  });
});
