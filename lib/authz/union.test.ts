import { describe, expect, test } from '@jest/globals';
import type { Authorizer, Decision } from './authorizer.ts';
import { attributesOf } from './testing/attributes.ts';
import { unionAuthorizer } from './union.ts';

const signal = new AbortController().signal;

describe.each([
  ['at once', (decision: Decision) => decision],
  ['later', (decision: Decision) => Promise.resolve(decision)],
])('a union of members that answer %s', (_name, answer) => {
  test.each([
    [[], 'noOpinion', ''],
    [['noOpinion'], 'noOpinion', 'r0'],
    [['noOpinion', 'allow', 'deny'], 'allow', 'r1'],
    [['noOpinion', 'deny', 'allow'], 'deny', 'r1'],
    [['noOpinion', 'noOpinion'], 'noOpinion', 'r0\nr1'],
  ] as [Decision['effect'][], Decision['effect'], string][])(
    '%j decides %s',
    async (effects, effect, reason) => {
      const members = effects.map((one, index) => ({
        name: String(index),
        authorize: () => answer({ effect: one, reason: `r${String(index)}` }),
      }));
      expect(await unionAuthorizer(members).authorize(attributesOf(), signal)).toEqual({
        effect,
        reason,
      });
    },
  );
});

const silent: Decision = { effect: 'noOpinion', reason: '' };
const failing = (error: string): Decision => ({ ...silent, error });

test.each<[decisions: Decision[], result: Decision]>([
  [[failing('broke'), { effect: 'allow', reason: 'r' }], { effect: 'allow', reason: 'r' }],
  [[failing('broke'), silent], failing('broke')],
  [[failing('one'), failing('two')], failing('[one, two]')],
  [[failing('one'), failing('one')], failing('one')],
  [
    [failing('one'), { effect: 'deny', reason: 'no', error: 'two' }],
    { effect: 'deny', reason: 'no', error: 'two' },
  ],
])('after an error the next one is asked: %j gives %j', async (decisions, result) => {
  const members = decisions.map((decision) => ({ name: 'x', authorize: () => decision }));
  expect(await unionAuthorizer(members).authorize(attributesOf(), signal)).toEqual(result);
});

test('rules are those of all members together', () => {
  const user = { name: 'u', uid: '', groups: [], extra: {} };
  const rule = (verb: string) => ({ verbs: [verb], nonResourceURLs: ['/a'] });
  const member = (verb: string, incomplete: boolean, evaluationError: string): Authorizer => ({
    name: verb,
    authorize: () => silent,
    rulesFor: () => ({
      resourceRules: [],
      nonResourceRules: [rule(verb)],
      incomplete,
      evaluationError,
    }),
  });
  const members = [
    member('get', false, ''),
    { name: 'no rules', authorize: () => silent },
    member('put', true, 'one'),
    member('head', false, 'two'),
  ];
  expect(unionAuthorizer(members).rulesFor?.(user, 'n')).toEqual({
    resourceRules: [],
    nonResourceRules: [rule('get'), rule('put'), rule('head')],
    incomplete: true,
    evaluationError: '[one, two]',
  });
});

test('where all members know their rules there is no error', () => {
  const none = { resourceRules: [], nonResourceRules: [], incomplete: false, evaluationError: '' };
  const member = { name: 'x', authorize: () => silent, rulesFor: () => none };
  const user = { name: 'u', uid: '', groups: [], extra: {} };
  expect(unionAuthorizer([member, member]).rulesFor?.(user, 'n')).toEqual(none);
});
