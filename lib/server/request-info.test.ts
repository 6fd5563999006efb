import { describe, expect, test } from '@jest/globals';
import { parseRequestInfo } from './request-info.ts';

const summary = (method: string, url: string): string => {
  const info = parseRequestInfo(method, url);
  if (info.kind === 'nonResource') return `path ${info.verb} ${info.path}`;
  const { verb, group, version, namespace, resource, name, subresource, rest } = info;
  const tail = [resource, name, subresource, ...rest].filter((part) => part !== '').join('/');
  return `${verb} ${group}/${version} ns=${namespace} ${tail}`;
};

describe('resource paths', () => {
  test.each([
    ['GET', '/api/v1/namespaces', 'list /v1 ns= namespaces'],
    ['GET', '/api/v1/namespaces/a', 'get /v1 ns=a namespaces/a'],
    ['GET', '/api/v1/namespaces/a/status', 'get /v1 ns=a namespaces/a/status'],
    ['PUT', '/api/v1/namespaces/a/finalize', 'update /v1 ns=a namespaces/a/finalize'],
    ['GET', '/api/v1/namespaces/a/pods', 'list /v1 ns=a pods'],
    ['GET', '/api/v1/namespaces/status/pods', 'list /v1 ns=status pods'],
    ['GET', '/api/v1/namespaces/namespaces/pods/x', 'get /v1 ns=namespaces pods/x'],
    ['GET', '/api/v1/pods', 'list /v1 ns= pods'],
    ['POST', '/api/v1/namespaces/a/pods', 'create /v1 ns=a pods'],
    ['POST', '/api/v1/namespaces', 'create /v1 ns= namespaces'],
    ['GET', '/api/v1/namespaces/a/pods/b', 'get /v1 ns=a pods/b'],
    ['HEAD', '/api/v1/namespaces/a/pods/b', 'get /v1 ns=a pods/b'],
    ['HEAD', '/api/v1/namespaces/a/pods', 'list /v1 ns=a pods'],
    ['PUT', '/api/v1/namespaces/a/pods/b', 'update /v1 ns=a pods/b'],
    ['PATCH', '/api/v1/namespaces/a/pods/b', 'patch /v1 ns=a pods/b'],
    ['DELETE', '/api/v1/namespaces/a/pods/b', 'delete /v1 ns=a pods/b'],
    ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection /v1 ns=a pods'],
    ['DELETE', '/api/v1/namespaces/a', 'delete /v1 ns=a namespaces/a'],
    ['DELETE', '/api/v1/namespaces', 'deletecollection /v1 ns= namespaces'],
    ['OPTIONS', '/api/v1/pods', 'options /v1 ns= pods'],
    ['PROPFIND', '/api/v1/pods', ' /v1 ns= pods'],
    ['constructor', '/api/v1/pods', ' /v1 ns= pods'],
    ['__proto__', '/api/v1/pods', ' /v1 ns= pods'],
    ['LIST', '/api/v1/namespaces/a/pods/b', ' /v1 ns=a pods/b'],
    ['GET', '/api/v1/namespaces/a/pods/b/log', 'get /v1 ns=a pods/b/log'],
    ['POST', '/api/v1/namespaces/a/pods/b/eviction', 'create /v1 ns=a pods/b/eviction'],
    ['GET', '/api/v1/nodes/n/proxy/x/y', 'get /v1 ns= nodes/n/proxy/x/y'],
    ['GET', '/apis/apps/v1/deployments', 'list apps/v1 ns= deployments'],
    [
      'GET',
      '/apis/apps/v1/namespaces/a/deployments/b/scale',
      'get apps/v1 ns=a deployments/b/scale',
    ],
    ['GET', '/api/v1/namespaces/', 'list /v1 ns= namespaces'],
    ['GET', '/api/v1/namespaces/a/', 'get /v1 ns=a namespaces/a'],
    ['GET', '/api/v1/namespaces/a/pods/', 'list /v1 ns=a pods'],
    ['GET', '/api/v1/namespaces/a/pods//', 'list /v1 ns=a pods'],
    ['DELETE', '/api/v1/namespaces/a/pods/b/', 'delete /v1 ns=a pods/b'],
    ['GET', '/api/v1/watch/namespaces/a/pods/', 'watch /v1 ns=a pods'],
  ])('%s %s', (method, url, expected) => {
    expect(summary(method, url)).toBe(expected);
  });

  test.each([
    ['/api/v1/nodes/n/proxy', []],
    ['/api/v1/nodes/n/proxy/', ['']],
    ['/api/v1/nodes/n/proxy/x/', ['x', '']],
  ])('%s is passed on to %j', (url, rest) => {
    expect(parseRequestInfo('GET', url)).toMatchObject({ subresource: 'proxy', rest });
  });
});

describe('watches', () => {
  test.each([
    ['/api/v1/watch/pods', 'watch /v1 ns= pods'],
    ['/api/v1/watch/namespaces/a/pods', 'watch /v1 ns=a pods'],
    ['/api/v1/watch/namespaces/a/pods/b', 'watch /v1 ns=a pods/b'],
    ['/api/v1/watch/namespaces/a', 'watch /v1 ns=a namespaces/a'],
    ['/apis/apps/v1/watch/deployments', 'watch apps/v1 ns= deployments'],
    ['/api/v1/pods?watch=true', 'watch /v1 ns= pods'],
    ['/api/v1/pods?watch=1', 'watch /v1 ns= pods'],
    ['/api/v1/pods?watch', 'watch /v1 ns= pods'],
    ['/api/v1/pods?watch=anything', 'watch /v1 ns= pods'],
    ['/api/v1/namespaces/a/pods/b?watch=1', 'watch /v1 ns=a pods/b'],
    ['/api/v1/pods?watch=false', 'list /v1 ns= pods'],
    ['/api/v1/pods?watch=False', 'list /v1 ns= pods'],
    ['/api/v1/pods?watch=0', 'list /v1 ns= pods'],
    ['/api/v1/namespaces/a/pods/b/log?watch=1', 'get /v1 ns=a pods/b/log'],
    ['/api/v1/watch', 'list /v1 ns= watch'],
  ])('GET %s', (url, expected) => {
    expect(summary('GET', url)).toBe(expected);
  });
  test('are asked for by GET alone; their own paths mean nothing else', () => {
    expect(summary('POST', '/api/v1/namespaces/a/pods?watch=1')).toBe('create /v1 ns=a pods');
    expect(summary('POST', '/api/v1/watch/namespaces/a/pods')).toBe('watch /v1 ns=a pods');
    expect(summary('DELETE', '/api/v1/watch/namespaces/a/pods')).toBe('watch /v1 ns=a pods');
  });
});

describe('percent-encoding is decoded once', () => {
  test.each([
    ['/api/v1/namespaces/a/roles/a%3Ab', 'get /v1 ns=a roles/a:b'],
    ['/api/v1/n%61mespaces/a/pods', 'list /v1 ns=a pods'],
    ['/api/v1/namespaces/a/pods/%2561', 'get /v1 ns=a pods/%61'],
    ['/%61pi/v1/pods', 'list /v1 ns= pods'],
  ])('%s', (url, expected) => {
    expect(summary('GET', url)).toBe(expected);
  });
});

describe('paths that are no resource', () => {
  test.each([
    ['/', '/'],
    ['/api', '/api'],
    ['/api/', '/api/'],
    ['/api/v1', '/api/v1'],
    ['/api/v1/', '/api/v1/'],
    ['/apis/apps', '/apis/apps'],
    ['/apis/apps/v1', '/apis/apps/v1'],
    ['/apis/apps/v1/', '/apis/apps/v1/'],
    ['/livez/etcd?verbose', '/livez/etcd'],
    ['/%6civez', '/livez'],
    ['https://host:6443/livez', '/livez'],
    ['http://host', ''],
    ['*', '*'],
    ['', ''],
  ])('%s', (url, path) => {
    expect(summary('GET', url)).toBe(`path get ${path}`);
  });

  test.each([
    '/api/v1/namespaces/a/configmaps/..',
    '/api/v1/namespaces/a/configmaps/../secrets/b',
    '/api/v1/namespaces/a/configmaps/%2e%2e/secrets/b',
    '/api/v1/namespaces/a/configmaps/%2E%2E%2fsecrets',
    '/api/v1/namespaces/a%2Fsecrets/configmaps',
    '/api/v1/namespaces/a/configmaps/b%2fc',
    '/api/v1/namespaces/a/configmaps/.',
    '/api/v1/namespaces//configmaps/b',
    '/api/v1//pods',
    '//api/v1/pods',
    '/api/v1/namespaces/a/configmaps/b%00',
    '/api/v1/namespaces/a/configmaps/%ff',
    '/api/v1/namespaces/a/configmaps/%',
    '/api/v1/namespaces/a/configmaps/%c0%ae%c0%ae',
  ])('%s names no resource', (url) => {
    expect(parseRequestInfo('GET', url)).toMatchObject({ kind: 'nonResource', resource: '' });
  });
});
