import { describe, expect, test } from '@jest/globals';
import type { Attributes } from '../../authz/authorizer.ts';
import { parseRequestInfo } from '../request-info.ts';
import type { RequestContext } from '../request-context.ts';
import { connect2, request1, request2, startTestServer } from '../testing/test-server.ts';
import { attributesOf, authorizeFilter } from './authorize.ts';

const contextOf = (method: string, url: string): RequestContext =>
  ({ info: parseRequestInfo(method, url), user: undefined }) as unknown as RequestContext;
const pods = '/api/v1/namespaces/n/pods';
const node = { requirements: [{ key: 'spec.nodeName', operator: 'in', values: ['a'] }] };
const labels = { requirements: [{ key: 'env', operator: 'in', values: ['prod', 'dev'] }] };
const both = 'fieldSelector=spec.nodeName%3Da&labelSelector=env+in+(prod,dev)';

describe('an authorizer sees selectors', () => {
  test.each([
    ['GET', `${pods}?${both}`, 'list', node, labels],
    ['GET', `${pods}?watch=1&${both}`, 'watch', node, labels],
    ['GET', `/api/v1/watch/namespaces/n/pods?${both}`, 'watch', node, labels],
    ['DELETE', `${pods}?${both}`, 'deletecollection', node, labels],
    ['GET', `${pods}?fieldSelector=&labelSelector=`, 'list', undefined, undefined],
    ['GET', pods, 'list', undefined, undefined],
    [
      'GET',
      `${pods}?fieldSelector=a&labelSelector=a=b=c`,
      'list',
      { rawSelector: 'a' },
      { rawSelector: 'a=b=c' },
    ],
    ['GET', `${pods}/a?${both}`, 'get', undefined, undefined],
    ['GET', `${pods}/a/log?watch=1&${both}`, 'get', undefined, undefined],
    ['POST', `${pods}?${both}`, 'create', undefined, undefined],
    ['DELETE', `${pods}/a?${both}`, 'delete', undefined, undefined],
    ['GET', `/version?${both}`, 'get', undefined, undefined],
  ])('%s %s: %s', (method, url, verb, fieldSelector, labelSelector) => {
    const attributes = attributesOf(contextOf(method, url));
    expect(attributes.verb).toBe(verb);
    expect(attributes.fieldSelector).toEqual(fieldSelector);
    expect(attributes.labelSelector).toEqual(labelSelector);
  });

  test.each([
    ['GET', `${pods}?fieldSelector=metadata.name%3Da`, 'a'],
    ['GET', `${pods}?watch=1&fieldSelector=spec.nodeName%3Db,metadata.name%3Da`, 'a'],
    ['GET', `${pods}?fieldSelector=metadata.name!%3Da`, ''],
    ['GET', `${pods}?fieldSelector=metadata.name%3D..`, ''],
    ['GET', `${pods}?fieldSelector=metadata.name%3Da/b`, ''],
    ['GET', `${pods}?fieldSelector=metadata.name`, ''],
    ['GET', `${pods}/b?fieldSelector=metadata.name%3Da`, 'b'],
    ['GET', '/api/v1/watch/namespaces/n/pods/b?fieldSelector=metadata.name%3Da', 'b'],
    ['DELETE', `${pods}?fieldSelector=metadata.name%3Da`, ''],
  ])('%s %s is of the name %p', (method, url, name) => {
    expect(attributesOf(contextOf(method, url)).name).toBe(name);
  });

  test('but not in questions about other verbs of the request', () => {
    const attributes = attributesOf(contextOf('GET', `${pods}?${both}`), { verb: 'impersonate' });
    expect(attributes).toMatchObject({ verb: 'impersonate', resource: 'pods' });
    expect([attributes.fieldSelector, attributes.labelSelector]).toEqual([undefined, undefined]);
  });

  test('and nobody reads them before it asks', () => {
    const context = contextOf('GET', `${pods}?${both}`);
    const asked: string[] = [];
    const get = (name: string): string => {
      asked.push(name);
      return 'a=b';
    };
    const query = { get } as unknown as URLSearchParams;
    const attributes = attributesOf({ ...context, info: { ...context.info, query } });
    expect(asked).toEqual(['fieldSelector']); // for the name
    expect(attributes.labelSelector).toBe(attributes.labelSelector);
    expect(asked).toEqual(['fieldSelector', 'labelSelector']);
  });
});

test('a list over the wire: the authorizer sees its selector, the refusal its name', async () => {
  const seen: Attributes[] = [];
  const filter = authorizeFilter({
    name: 'test',
    authorize(attributes) {
      seen.push(attributes);
      return { effect: 'noOpinion', reason: 'no rule' };
    },
  });
  await using server = await startTestServer({ filters: [filter] });
  const session = await connect2(server);
  const url = `${pods}?fieldSelector=metadata.name%3Da`;
  for (const { status, body } of [await request1(server, url), await request2(session, url)]) {
    expect([status, JSON.parse(body.toString())]).toMatchObject([
      403,
      {
        details: { name: 'a', kind: 'pods' },
        message: expect.stringMatching(/^pods "a" is forbidden: .* cannot list .*: no rule$/),
      },
    ]);
  }
  session.destroy();
  const requirements = [{ key: 'metadata.name', operator: 'in', values: ['a'] }];
  expect(seen.map(({ fieldSelector }) => fieldSelector)).toEqual([
    { requirements },
    { requirements },
  ]);
});
