import { expect, test } from '@jest/globals';
import type { HttpRequest } from './request-context.ts';
import { wantsPretty } from './wants-pretty.ts';

test.each([
  ['', 'kubectl/v1.36.0', false],
  ['', undefined, false],
  ['', 'curl/8.5.0', true],
  ['', 'Wget/1.21', true],
  ['', 'Mozilla/5.0 (X11; Linux x86_64)', true],
  ['', 'Mozilla/4.0', false],
  ['', 'libcurl/8.5.0', false],
  ['pretty=', 'curl/8.5.0', true],
  ['pretty=false', 'curl/8.5.0', false],
  ['pretty=0', 'curl/8.5.0', false],
  ['pretty=anything', 'curl/8.5.0', false],
  ['pretty=true', undefined, true],
  ['pretty=1', 'kubectl/v1.36.0', true],
])('?%s from %s is pretty: %s', (query, agent, expected) => {
  const headers = agent === undefined ? {} : { 'user-agent': agent };
  const context = { info: { query: new URLSearchParams(query) } };
  expect(wantsPretty({ headers, context } as unknown as HttpRequest)).toBe(expected);
});
