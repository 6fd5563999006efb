import { describe, expect, test } from '@jest/globals';
import type { PatchName } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { StatusError } from '../base/status.ts';
import { createEncodings } from './encodings.ts';
import { parseAccept, parseMediaType } from './media-type.ts';
import {
  contentTypeOf,
  discoveryTransforms,
  negotiateBody,
  negotiateError,
  negotiatePatch,
  negotiateResponse,
  negotiateStream,
  patchMediaTypes,
  resourceTransforms,
} from './negotiate.ts';
import type { ResponseOffers } from './negotiate.ts';

const svc = namingProfile('svc');
const patches = { names: ['json', 'merge'], cbor: false } as const;
const offeredMedia = createEncodings(svc);
const offers = (shape: 'object' | 'list' | 'watch'): ResponseOffers => ({
  media: offeredMedia,
  transforms: resourceTransforms(svc, shape),
});
const failure = (run: () => unknown): string => {
  try {
    return `no failure: ${JSON.stringify(run())}`;
  } catch (error) {
    if (error instanceof StatusError)
      return `${String(error.code)} ${error.reason}: ${error.message}`;
    throw error;
  }
};
const short = (
  accept: string | undefined,
  shape: 'object' | 'list' | 'watch' = 'object',
): string => {
  const { mediaType, transform, pretty } = negotiateResponse(accept, offers(shape));
  return [mediaType.replace('application/', ''), transform?.as, pretty ? 'pretty' : undefined]
    .filter(Boolean)
    .join(' ');
};
const table = 'application/json;as=Table;v=v1;g=meta.svc.io';
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.svc.io';
const partialList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.svc.io';

describe('Accept', () => {
  test.each([
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['application/json', 'json'],
    ['APPLICATION/JSON', 'json'],
    ['application/yaml', 'yaml'],
    ['application/json, application/yaml', 'json'],
    ['application/yaml, application/json', 'yaml'],
    ['application/json;q=0.1, application/yaml;q=0.9', 'yaml'],
    ['text/plain, application/yaml', 'yaml'],
    ['application/vnd.svc.protobuf, application/json', 'vnd.svc.protobuf'],
    ['application/vnd.other.protobuf, application/json', 'json'],
    ['application/json;pretty=1', 'json pretty'],
    ['text/html,application/json;q=0.9,*/*;q=0.8', 'json'],
    ['application/json;q=0, */*', 'yaml'],
    ['application/json;charset=utf-8', 'json'],
    ['garbage, application/yaml', 'yaml'],
    ['application/json;q=x, application/yaml', 'yaml'],
    [table, 'json Table'],
    [`${table}, application/json`, 'json Table'],
    ['application/yaml;as=Table;v=v1;g=meta.svc.io', 'yaml Table'],
    [partial, 'json PartialObjectMetadata'],
    ['application/json;as=Nothing;v=v1;g=meta.svc.io, application/json', 'json'],
    [`${table.replace('v1', 'v9')}, ${table.replace('v1', 'v1beta1')}, application/json`, 'json'],
    [`application/vnd.svc.protobuf;as=Table;v=v1;g=meta.svc.io, ${table}`, 'json Table'],
    ['application/json;as="Table";v=v1;g=meta.svc.io', 'json Table'],
    [`${partialList}, application/json`, 'json'],
  ])('%s is answered in %s', (accept, expected) => {
    expect(short(accept)).toBe(expected);
  });
  test('lists have the list form of partial objects', () => {
    expect(short(partialList, 'list')).toBe('json PartialObjectMetadataList');
    expect(failure(() => short(partial, 'list'))).toMatch(/^406 NotAcceptable/);
    expect(failure(() => short(partialList, 'object'))).toMatch(/^406 NotAcceptable/);
    expect(short(partial, 'watch')).toBe('json PartialObjectMetadata');
  });
  test.each([
    'text/plain',
    'image/png, text/html',
    'application/cbor',
    'application/xml',
    'garbage',
    ',',
    'text/*',
    'application/json;q=0',
    'application/vnd.other.protobuf',
    'application/vnd.svc.protobuf;as=Table;v=v1;g=meta.svc.io',
    '*/json',
    'application/json;as=Nothing;v=v1;g=meta.svc.io',
    table.replace('v1', 'v9'),
    table.replace('svc.io', 'other'),
    'application/json;as=Table',
    'application/json;as=constructor;v=v1;g=meta.svc.io',
  ])('%s is a 406 that names what is offered', (accept) => {
    expect(failure(() => short(accept))).toBe(
      '406 NotAcceptable: only the following media types are accepted: application/json,' +
        ' application/yaml, application/vnd.svc.protobuf',
    );
  });
  test.each([true, false])('line breaks that are asked for elsewhere: %s', (pretty) => {
    expect(negotiateResponse('application/json', offers('object'), pretty).pretty).toBe(pretty);
    expect(negotiateResponse(undefined, offers('object'), pretty).pretty).toBe(pretty);
  });
  test('a header of any size costs little', () => {
    expect(short(`${'text/plain,'.repeat(300_000)}application/yaml`.slice(-60))).toBe('yaml');
    expect(failure(() => short('text/plain,'.repeat(300_000)))).toMatch(/^406/);
  });
});

describe('watches', () => {
  test.each([
    [undefined, 'application/json'],
    ['application/yaml, application/json', 'application/json'],
    ['*/*', 'application/json'],
  ])('%s streams %s', (accept, expected) => {
    expect(negotiateStream(accept, offers('watch')).mediaType).toBe(expected);
  });
  test.each([
    'application/yaml',
    'text/plain',
    'application/cbor-seq',
    'application/xml, text/html',
  ])('%s cannot stream', (accept) => {
    expect(failure(() => negotiateStream(accept, offers('watch')))).toBe(
      '406 NotAcceptable: only the following media types are accepted: application/json,' +
        ' application/vnd.svc.protobuf',
    );
  });
});

test('discovery repeats its form in the Content-Type, others do not', () => {
  const discovery = { media: offeredMedia, transforms: discoveryTransforms(svc) };
  const accept = 'application/json;g=apidiscovery.svc.io;v=v2;as=APIGroupDiscoveryList';
  expect(contentTypeOf(negotiateResponse(accept, discovery))).toBe(accept);
  expect(
    contentTypeOf(negotiateResponse(`${accept.replace('v2', 'v7')},application/json`, discovery)),
  ).toBe('application/json');
  expect(contentTypeOf(negotiateResponse(table, offers('list')))).toBe('application/json');
});

test.each([
  [undefined, 'application/json'],
  ['text/plain', 'application/json'],
  ['application/yaml', 'application/yaml'],
  ['application/yaml;as=Nothing', 'application/yaml'],
  ['garbage', 'application/json'],
])('an error for Accept %s is %s', (accept, expected) => {
  expect(negotiateError(accept, offeredMedia, false).mediaType).toBe(expected);
});

describe('Content-Type', () => {
  const bodies = offeredMedia.map(({ mediaType }) => mediaType);
  test.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['Application/YAML', 'application/yaml'],
    ['application/vnd.svc.protobuf', 'application/vnd.svc.protobuf'],
  ])('of a body %s is %s', (contentType, expected) => {
    expect(negotiateBody(contentType, bodies)).toBe(expected);
  });
  test.each([
    'text/plain',
    'application/xml',
    'application/cbor',
    'application/json-patch+json',
    'multipart/form-data',
    '*/*',
    'json',
    'application/vnd.other.protobuf',
  ])('of a body %s is a 415', (contentType) => {
    expect(failure(() => negotiateBody(contentType, bodies))).toBe(
      '415 UnsupportedMediaType: the body of the request was in an unknown format ' +
        '- accepted media types include: application/json, application/yaml, application/vnd.' +
        'svc.protobuf',
    );
  });
  test.each([
    ['application/json-patch+json', 'json'],
    ['application/merge-patch+json; charset=utf-8', 'merge'],
  ])('of a patch %s is %s', (contentType, expected) => {
    expect(negotiatePatch(contentType, patches)).toEqual({ name: expected, cbor: false });
  });
  test.each([
    undefined,
    '',
    'text/plain',
    'application/json',
    'application/yaml',
    'application/patch',
    'application/strategic-merge-patch+json',
  ])('of a patch %s is a 415', (contentType) => {
    expect(failure(() => negotiatePatch(contentType, patches))).toBe(
      '415 UnsupportedMediaType: the body of the request was in an unknown format ' +
        '- accepted media types include: application/json-patch+json, application/merge-patch' +
        '+json',
    );
  });
});

test('apply patches may come in CBOR where that is offered', () => {
  const [yaml, cbor] = ['application/apply-patch+yaml', 'application/apply-patch+cbor'];
  const names: readonly PatchName[] = ['apply'];
  expect(patchMediaTypes({ names, cbor: true })).toEqual([yaml, cbor]);
  expect(negotiatePatch(cbor, { names, cbor: true })).toEqual({ name: 'apply', cbor: true });
  expect(failure(() => negotiatePatch(cbor, { names, cbor: false }))).toContain('415');
});

test('media types keep quoted separators together', () => {
  expect(parseMediaType('a/b; x="1;2"; y="q\\"r"; x=3')?.parameters).toEqual(
    new Map([
      ['x', '1;2'],
      ['y', 'q"r'],
    ]),
  );
  expect(
    parseAccept('a/b;x="1,2", c/d;q=0.5, */*;q=0.7').map(({ type, quality }) => [type, quality]),
  ).toEqual([
    ['a', 1],
    ['*', 0.7],
    ['c', 0.5],
  ]);
  expect(['', 'a', 'a/', '/b', 'a/b/c', 'a b/c', 'a/b;=1', '*/b'].map(parseMediaType)).toEqual(
    Array(8).fill(undefined),
  );
});
