import { describe, expect, test } from '@jest/globals';
import { ruleOf } from '../../kinds/rbac/rule-text.ts';
import { attributesOf } from '../testing/attributes.ts';
import { allows } from './rules.ts';

const get = { verb: 'get', isResourceRequest: true, resource: 'pods', name: 'a' };

describe('a rule about resources', () => {
  test.each([
    ['get pods', get, true],
    ['list,get services,pods', get, true],
    ['* * of *', { ...get, group: 'apps', subresource: 'log' }, true],
    ['list pods', get, false],
    ['get pods of apps', get, false],
    ['get pods of apps', { ...get, group: 'apps' }, true],
    ['get pods of core,apps', get, true],
    ['get pods', { ...get, group: 'apps' }, false],
    ['get pods', { ...get, subresource: 'log' }, false],
    ['get pods/log', { ...get, subresource: 'log' }, true],
    ['get pods/log', get, false],
    ['get */log', { ...get, subresource: 'log' }, true],
    ['get */log', get, false],
    ['get */log', { ...get, resource: '*' }, false],
    ['get pods/*', { ...get, subresource: 'log' }, false],
    ['get pods named a,b', get, true],
    ['get pods named b', get, false],
    ['list pods named a', { ...get, verb: 'list', name: '' }, false],
    ['list pods named a', { ...get, verb: 'list' }, true],
    ['create pods named a', { ...get, verb: 'create', name: '' }, false],
    ['deletecollection pods named a', { ...get, verb: 'deletecollection', name: '' }, false],
    ['get Pods', get, false],
    ['GET pods', get, false],
    ['get pods', { verb: 'get', path: '/pods' }, false],
    ['get at /healthz', { ...get, path: '/healthz' }, false],
  ])('%s: %j is %s', (text, change, expected) => {
    expect(allows(ruleOf(text), attributesOf(change))).toBe(expected);
  });
});

describe('a rule about paths', () => {
  test.each([
    ['get at /healthz', '/healthz', true],
    ['get at /healthz', '/healthz/etcd', false],
    ['get at /healthz/*', '/healthz/etcd', true],
    ['get at /healthz/*', '/healthz/', true],
    ['get at /healthz/*', '/healthz', false],
    ['get at /health*', '/healthz', true],
    ['get at /a/**', '/a/b', true],
    ['get at /a*/b', '/ac/b', false],
    ['get at *', '/anything', true],
    ['* at /healthz', '/healthz', true],
    ['post at /healthz', '/healthz', false],
    ['* * of *', '/healthz', false],
  ])('%s: %s is %s', (text, path, expected) => {
    expect(allows(ruleOf(text), attributesOf({ path }))).toBe(expected);
  });
});
