import { describe, expect, test } from '@jest/globals';
import { attributesOf } from '../testing/attributes.ts';
import { allows, notHeld, rulesOf } from './rules.ts';
import type { PolicyRule } from './rules.ts';

/** `get,list pods,pods/log apps a,b`, or `get /healthz,/metrics/*`: what is absent is empty. */
function rule(text: string): PolicyRule {
  const [verbs = '', what = '', group = '""', names = ''] = text.split(' ');
  const list = (part: string): string[] => (part === '' ? [] : part.split(','));
  const ofUrls = what.startsWith('/') || what === '**';
  return {
    verbs: list(verbs),
    apiGroups: ofUrls ? [] : list(group).map((one) => (one === '""' ? '' : one)),
    resources: ofUrls ? [] : list(what),
    resourceNames: list(names),
    nonResourceURLs: ofUrls ? list(what === '**' ? '*' : what) : [],
  };
}

const get = { verb: 'get', isResourceRequest: true, resource: 'pods', name: 'a' };

describe('a rule about resources', () => {
  test.each([
    ['get pods', get, true],
    ['list,get services,pods', get, true],
    ['* * *', { ...get, group: 'apps', subresource: 'log' }, true],
    ['list pods', get, false],
    ['get pods apps', get, false],
    ['get pods apps', { ...get, group: 'apps' }, true],
    ['get pods', { ...get, group: 'apps' }, false],
    ['get pods', { ...get, subresource: 'log' }, false],
    ['get pods/log', { ...get, subresource: 'log' }, true],
    ['get pods/log', get, false],
    ['get */log', { ...get, subresource: 'log' }, true],
    ['get */log', get, false],
    ['get */log', { ...get, resource: '*' }, false],
    ['get pods "" a,b', get, true],
    ['get pods "" b', get, false],
    ['create pods "" a', { ...get, verb: 'create', name: '' }, false],
    ['get Pods', get, false],
    ['get pods', { verb: 'get', path: '/pods' }, false],
    ['get /healthz', { ...get, path: '/healthz' }, false],
  ])('%s: %j is %s', (text, change, expected) => {
    expect(allows(rule(text), attributesOf(change))).toBe(expected);
  });
});

describe('a rule about paths', () => {
  test.each([
    ['get /healthz', '/healthz', true],
    ['get /healthz', '/healthz/etcd', false],
    ['get /healthz/*', '/healthz/etcd', true],
    ['get /healthz/*', '/healthz/', true],
    ['get /healthz/*', '/healthz', false],
    ['get /health*', '/healthz', true],
    ['get **', '/anything', true],
    ['post /healthz', '/healthz', false],
    ['* * *', '/healthz', false],
  ])('%s: %s is %s', (text, path, expected) => {
    expect(allows(rule(text), attributesOf({ path }))).toBe(expected);
  });
});

describe('rights that are not held', () => {
  test.each([
    [['get,list pods'], 'get pods', []],
    [['get pods', 'list pods'], 'get,list pods', []],
    [['get pods'], 'get,list pods,services', ['list pods', 'get services', 'list services']],
    [['* pods'], '* pods', []],
    [['get,list,watch pods'], '* pods', ['* pods']],
    [['get * *'], 'get pods/log apps', []],
    [['get pods apps'], 'get pods *', ['get pods *']],
    [['get */scale apps'], 'get deployments/scale apps', []],
    [['get */scale apps'], 'get */scale apps', []],
    [['get deployments/scale apps'], 'get */scale apps', ['get */scale apps']],
    [['get pods "" a'], 'get pods "" a,b', ['get pods "" b']],
    [['get pods "" a'], 'get pods', ['get pods']],
    [['get /a/*'], 'get /a/b,/a/*', []],
    [['get /a/*'], 'get /a', ['get /a']],
    [['get **'], 'get /a/*', []],
    [['get /a/*'], 'get **', ['get **']],
  ])('%j, asked for %s, lack %j', (held, wanted, lacking) => {
    expect(notHeld(held.map(rule), [rule(wanted)])).toEqual(lacking.map(rule));
  });
});

test('lists that a role leaves out are empty', () => {
  const none = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
  expect(rulesOf({ rules: [{ verbs: ['get'] }] })).toEqual([{ verbs: ['get'], ...none }]);
  expect(rulesOf({})).toEqual([]);
});
