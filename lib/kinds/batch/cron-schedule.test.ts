import { expect, test } from '@jest/globals';
import { isZone } from './cron-schedule.ts';

test.each([
  'Europe/Zurich',
  'Asia/Calcutta',
  'Asia/Kolkata',
  'Europe/Kiev',
  'Europe/Kyiv',
  'America/Argentina/Buenos_Aires',
  'US/Pacific',
  'Etc/GMT-14',
  'GMT+0',
  'GB-Eire',
  'EST',
  'W-SU',
])('%s is a name of the time zone database', (name) => {
  expect(isZone(name)).toBe(true);
});

test.each([
  'PST',
  'IST',
  'BST',
  'CST',
  'US/pacific',
  'us/Pacific',
  'europe/Zurich',
  'SystemV/EST5',
  'Etc/GMT-15',
])('%s is none', (name) => {
  expect(isZone(name)).toBe(false);
});
