import { expect, test } from '@jest/globals';
import { imageTagOf } from './image-names.ts';

const digest = `sha256:${'a'.repeat(64)}`;

test.each<[image: string, tag: string | undefined]>([
  ['nginx', 'latest'],
  ['nginx:1.2', '1.2'],
  ['nginx:latest', 'latest'],
  [`nginx@${digest}`, ''],
  [`nginx:latest@${digest}`, 'latest'],
  ['example.com/a/b_c/d-e', 'latest'],
  ['example.com:5000/a:v1', 'v1'],
  ['localhost/a', 'latest'],
  ['Example/a', 'latest'],
  ['[::1]:5000/a', 'latest'],
  ['10.0.0.300', 'latest'],
  ['index.docker.io/a', 'latest'],
  ['', undefined],
  ['Upper', undefined],
  ['a/Upper', undefined],
  ['/a', undefined],
  ['a//b', undefined],
  ['a..b', undefined],
  ['a:', undefined],
  ['a:b/c', undefined],
  ['$(X)', undefined],
  ['nginx@sha256:abc', undefined],
  [`nginx@md5:${'a'.repeat(32)}`, undefined],
  ['a'.repeat(64), undefined],
  [`g${'a'.repeat(243)}`, undefined],
  [`g${'a'.repeat(236)}`, 'latest'],
])('%s has the tag %p', (image, tag) => {
  expect(imageTagOf(image)).toBe(tag);
});
