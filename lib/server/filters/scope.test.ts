import { expect, test } from '@jest/globals';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { parseRequestInfo } from '../request-info.ts';
import type { HttpRequest, HttpResponse } from '../request-context.ts';
import { checkScope } from './scope.ts';

const scopes: Readonly<Record<string, boolean>> = {
  '/pods': true,
  '/nodes': false,
  '/namespaces': false,
  'example.com/namespaces': true, // a custom resource may have any name
};
function contextOf(url: string): HttpRequest['context'] {
  const info = parseRequestInfo('GET', url);
  const namespaced = scopes[`${info.group}/${info.resource}`];
  const store =
    namespaced === undefined ? undefined : ({ resource: { namespaced } } as ResourceStore);
  return { info, store } as HttpRequest['context'];
}

test.each([
  ['/api/v1/namespaces/a/nodes/n', 404],
  ['/api/v1/namespaces/a/nodes', 404],
  ['/api/v1/watch/namespaces/a/nodes', 404],
  ['/api/v1/namespaces/a/namespaces/b', 404],
  ['/api/v1/namespaces/a/namespaces/a', 404],
  ['/api/v1/namespaces/a/namespaces', 404],
  ['/api/v1/watch/namespaces/a/namespaces/b', 404],
  ['/apis/example.com/v1/namespaces/a', 404],
  ['/apis/example.com/v1/namespaces/a/namespaces/b', 200],
  ['/apis/example.com/v1/namespaces', 200],
  ['/api/v1/pods/p', 404],
  ['/api/v1/watch/pods/p', 404],
  ['/api/v1/pods', 200],
  ['/api/v1/namespaces/a/pods', 200],
  ['/api/v1/namespaces/a/pods/p', 200],
  ['/api/v1/nodes', 200],
  ['/api/v1/nodes/n', 200],
  ['/api/v1/namespaces', 200],
  ['/api/v1/namespaces/a', 200],
  ['/api/v1/namespaces/a/status', 200],
  ['/api/v1/namespaces/a/unknown', 200], // 404 after authorization
  ['/livez', 200],
])('%s: %d before anybody is asked for permission', (url, status) => {
  const request = { context: contextOf(url) } as HttpRequest;
  let passed = 0;
  const run = (): unknown =>
    checkScope(request, {} as HttpResponse, () => {
      passed++;
    });
  if (status === 404) expect(run).toThrow(expect.objectContaining({ code: 404 }));
  else run();
  expect(passed).toBe(status === 404 ? 0 : 1);
});
