import { expect, test } from '@jest/globals';
import { bodyCopies } from './body-copies.ts';

const read = () => ({ metadata: { labels: { a: 'b' } }, spec: { list: [{ x: 1 }] } });

test.each([
  ['is copied', undefined],
  ['is read again', read],
])('what one try makes of a body, no other sees, where it %s', async (_name, again) => {
  const next = bodyCopies(read(), again);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const object = await next();
    expect(object).toEqual(read());
    Object.assign(object.metadata ?? {}, { labels: {} });
    (object['spec'] as ReturnType<typeof read>['spec']).list.push({ x: 2 });
  }
});

test('the first try takes what was read, and nothing is read twice for it', async () => {
  const object = read();
  let count = 0;
  const next = bodyCopies(object, () => {
    count += 1;
    return read();
  });
  expect(await next()).toBe(object);
  expect(count).toBe(0);
});
