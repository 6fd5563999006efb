import { expect, test } from '@jest/globals';
import { widgetResource } from '../codec/testing/sample-types.ts';
import type { PublishedKind, ResourceInfo } from '../api/type-info.ts';
import { tellChanges } from './openapi-changes.ts';

function record(
  version: string,
  schemaHash: string,
  more: Partial<PublishedKind> = {},
): ResourceInfo {
  const published = { isListed: true, schemaHash, typeOnce: () => undefined, ...more };
  return { ...widgetResource, group: 'g.example', version, resource: 'things', published };
}
const hidden = record('v1', 'a', { isListed: false });
const leaving = record('v1', 'a', { listedVerbs: ['get'] });

test.each<[string, ResourceInfo[], ResourceInfo[], string[]]>([
  ['a definition', [], [record('v1', 'a')], ['v1 add', 'add']],
  ['what is not listed', [], [hidden], []],
  ['what is listed from now on', [hidden], [record('v1', 'a')], ['v1 add', 'add']],
  ['the same again', [record('v1', 'a')], [record('v1', 'a')], []],
  ['one that is terminating', [record('v1', 'a')], [leaving], []],
  ['another schema', [record('v1', 'a')], [record('v1', 'b')], ['v1 update', 'update']],
  [
    'a version that comes and one that goes',
    [record('v1', 'a'), record('v2', 'a')],
    [record('v2', 'a'), record('v3', 'a')],
    ['v3 add', 'v1 remove', 'update'],
  ],
  ['a definition that goes', [record('v1', 'a')], [], ['v1 remove', 'remove']],
])('%s', (_what, former, now, told) => {
  const seen: string[] = [];
  tellChanges(former, now, {
    onPart: ({ definition, group, version }, reason) => {
      expect([definition, group]).toEqual(['things.g.example', 'g.example']);
      seen.push(`${version} ${reason}`);
    },
    onWhole: (definition, reason) => {
      expect(definition).toBe('things.g.example');
      seen.push(reason);
    },
  });
  expect(seen).toEqual(told);
});
