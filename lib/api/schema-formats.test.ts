// Formats of schemas: good and bad values of each.
import { expect, test } from '@jest/globals';
import { schemaFormats } from './schema-formats.ts';

const uuid = (third: string, fourth: string): string =>
  `0123abcd-0123-${third}123-${fourth}123-0123456789ab`;

test.each<[string, readonly string[], readonly string[]]>([
  [
    'bsonobjectid',
    ['507f1f77bcf86cd799439011'],
    ['507f1f77bcf86cd79943901', 'g07f1f77bcf86cd799439011'],
  ],
  ['uri', ['http://a/b?c#d', '/path', 'mailto:a@b'], ['', 'path', ':a', 'http://a b', '/%zz']],
  [
    'email',
    ['a@b', 'a.b+c@example.com', 'A B <a@b>', '"x y" <a@b>', '"a b"@c', 'a@[1.2.3.4]'],
    ['', 'a', '@b', 'a@', 'a b@c', 'a@b>', 'A <a@b', 'a..b@c'],
  ],
  [
    'hostname',
    ['a', 'a-b', 'a.example.com', '1.example.com'],
    ['', 'ab-c', 'a.b', '-a', 'a.1', 'a_b'],
  ],
  ['ipv4', ['1.2.3.4', '01.2.3.4', '::ffff:1.2.3.4'], ['1.2.3', '1.2.3.256', '::1']],
  ['ipv6', ['::1', '::ffff:1.2.3.4', 'fe80::1'], ['1.2.3.4', 'fe80::1%eth0', ':::']],
  ['cidr', ['1.2.3.4/8', '01.2.3.4/32', '::1/128'], ['1.2.3.4', '1.2.3.4/33', '::1/129', '/8']],
  [
    'mac',
    ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab', '01:23:45:67:89:ab:cd:ef'],
    ['01:23:45:67:89', '01:23-45:67:89:ab', '0123456789ab'],
  ],
  ['uuid', [uuid('0', '0'), '0123ABCD012301230123012345678900'], ['0123', `${uuid('0', '0')}0`]],
  ['uuid3', [uuid('3', '0')], [uuid('4', '0')]],
  ['uuid4', [uuid('4', '8'), uuid('4', 'B')], [uuid('4', '7'), uuid('5', '8')]],
  ['uuid5', [uuid('5', 'a')], [uuid('5', '0'), uuid('3', 'a')]],
  ['isbn10', ['3-16-148410-X', '0306406152'], ['0306406153', '030640615']],
  ['isbn13', ['978-0-306-40615-7'], ['978-0-306-40615-8']],
  ['isbn', ['0306406152', '9780306406157'], ['123']],
  ['creditcard', ['4111 1111 1111 1111', '378282246310005'], ['4111 1111 1111 1112', '1234']],
  ['ssn', ['123-45-6789', '123 45 6789'], ['123456789', '123-45-678']],
  ['hexcolor', ['#fff', 'A0B0C0'], ['#ffff', 'ggg']],
  ['rgbcolor', ['rgb(0,10,255)', 'rgb( 1 , 2 , 3 )'], ['rgb(256,0,0)', 'rgb(01,0,0)', 'rgb(1,2)']],
  ['byte', ['aGk=', 'aGko'], ['', 'aGk', 'aG k=', 'a\nGk=']],
  ['password', ['', 'x'], []],
  ['date', ['2024-02-29', '0001-01-01'], ['2023-02-29', '2024-1-1', '2024-13-01', '2024-01-01T']],
  [
    'datetime',
    ['2024-02-29T23:59:59Z', '2024-02-29t00:00:00.5+01:00'],
    ['2024-02-29T24:00:00Z', '2024-02-29T00:00:60Z', '2024-02-29T00:00:00', '2023-02-29T00:00:00Z'],
  ],
  [
    'duration',
    ['1h30m', '-1.5s', '0', '2 weeks', '3 Days', 'about 5 min', '1 fortnight 2 d'],
    ['', 'h', '5', '5 fortnights', 'week'],
  ],
  ['k8sshortname', ['a', 'a-1'], ['A', 'a.b', '-a', 'a'.repeat(64)]],
  ['k8slongname', ['a', 'a.b-c', 'a'.repeat(64)], ['A', 'a..b', 'a.', 'a'.repeat(254)]],
])('%s', (format, good, bad) => {
  const isRight = schemaFormats.get(format);
  expect(good.filter((text) => isRight?.(text) !== true)).toEqual([]);
  expect(bad.filter((text) => isRight?.(text) !== false)).toEqual([]);
});

test('each is decided in time linear in the text', () => {
  const size = 200_000;
  for (const part of ['1', ' ', 'a', '"', '.', '-', ':', 'a@', '1 ', 'aA+/']) {
    for (const isRight of schemaFormats.values()) isRight(part.repeat(size) + '!');
  }
});
