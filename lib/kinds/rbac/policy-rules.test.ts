import { describe, expect, test } from '@jest/globals';
import { notHeld, rulesOf, ruleTexts, together } from './policy-rules.ts';
import { ruleOf } from './rule-text.ts';

describe('rights that are not held', () => {
  test.each([
    [['get,list pods'], 'get pods', []],
    [['get pods', 'list pods'], 'get,list pods', []],
    [['get pods'], 'get,list pods,services', ['list pods', 'get services', 'list services']],
    [['* pods'], '* pods', []],
    [['get,list,watch pods'], '* pods', ['* pods']],
    [['get * of *'], 'get pods/log of apps', []],
    [['get pods of apps'], 'get pods of *', ['get pods of *']],
    [['get */scale of apps'], 'get deployments/scale of apps', []],
    [['get */scale of apps'], 'get */scale of apps', []],
    [['get deployments/scale of apps'], 'get */scale of apps', ['get */scale of apps']],
    [['get pods/*'], 'get pods/log', ['get pods/log']],
    [['get pods named a'], 'get pods named a,b', ['get pods named b']],
    [['get pods named a', 'get pods named b'], 'get pods named a,b', []],
    [['get pods named a'], 'get pods', ['get pods']],
    [['get pods'], 'get pods named a', []],
    [['get at /a/*'], 'get at /a/b,/a/*', []],
    [['get at /a/*'], 'get at /a', ['get at /a']],
    [['get at *'], 'get at /a/*', []],
    [['get at /a/*'], 'get at *', ['get at *']],
    [['* * of *'], 'get at /healthz', ['get at /healthz']],
    [['* at *'], 'get pods', ['get pods']],
  ])('%j, asked for %s, lack %j', (held, wanted, lacking) => {
    expect(notHeld(held.map(ruleOf), [ruleOf(wanted)])).toEqual(lacking.map(ruleOf));
  });
});

describe('the list of a refusal has rules of one resource in one, sorted', () => {
  test.each([
    [
      ['get,list secrets', 'delete configmaps'],
      [
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["delete"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
      ],
    ],
    [
      ['list,get pods named a', 'get pods'],
      [
        '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["list" "get"]}',
        '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
      ],
    ],
    [
      ['* at *', '* * of *'],
      ['{APIGroups:["*"], Resources:["*"], Verbs:["*"]}', '{NonResourceURLs:["*"], Verbs:["*"]}'],
    ],
    [
      ['get,post at /b,/a'],
      [
        '{NonResourceURLs:["/a"], Verbs:["get"]}',
        '{NonResourceURLs:["/a"], Verbs:["post"]}',
        '{NonResourceURLs:["/b"], Verbs:["get"]}',
        '{NonResourceURLs:["/b"], Verbs:["post"]}',
      ],
    ],
  ])('%j: %j', (rules, texts) => {
    expect(ruleTexts(together(notHeld([], rules.map(ruleOf))))).toEqual(texts);
  });
});

test('lists that a role leaves out are empty', () => {
  const none = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
  expect(rulesOf({ rules: [{ verbs: ['get'] }] })).toEqual([{ verbs: ['get'], ...none }]);
  expect(rulesOf({})).toEqual([]);
});
