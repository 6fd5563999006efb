import { describe, expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  addressWarning,
  advertisedAddress,
  checkListening,
  publishedAddress,
  urlAt,
} from './own-address.ts';

const entry = (address: string, internal = false) => ({
  address,
  internal,
  family: address.includes(':') ? ('IPv6' as const) : ('IPv4' as const),
  netmask: '',
  mac: '',
  cidr: null,
  scopeid: 0,
});
const loopback = { lo: [entry('127.0.0.1', true), entry('::1', true)] };
const host = {
  ...loopback,
  link: [entry('169.254.1.1'), entry('fe80::1')],
  eth0: [entry('fd00::7'), entry('10.0.0.7')],
  eth1: [entry('10.1.0.7')],
};
const ipv6Host = { lo: [entry('::1', true)], eth0: [entry('fe80::1'), entry('fd00::7')] };

describe('clients reach a server', () => {
  test.each([
    ['127.0.0.1', undefined, host, 'https://127.0.0.1:6443'],
    ['::1', undefined, host, 'https://[::1]:6443'],
    ['10.1.0.7', undefined, host, 'https://10.1.0.7:6443'],
    ['0.0.0.0', undefined, host, 'https://10.0.0.7:6443'],
    ['::', undefined, host, 'https://10.0.0.7:6443'],
    ['0:0:0:0:0:0:0:0', undefined, host, 'https://10.0.0.7:6443'],
    ['::', undefined, ipv6Host, 'https://[fd00::7]:6443'],
    ['0.0.0.0', undefined, loopback, 'https://127.0.0.1:6443'],
    ['::', undefined, { lo: [entry('::1', true)] }, 'https://[::1]:6443'],
    ['0.0.0.0', undefined, {}, 'https://127.0.0.1:6443'],
    ['0.0.0.0', '192.0.2.9', host, 'https://192.0.2.9:6443'],
    ['10.0.0.7', 'fd00::9', host, 'https://[fd00::9]:6443'],
  ])('on %s, advertised as %s: %#', (bound, advertised, interfaces, url) => {
    const flags = { 'bind-address': bound, 'advertise-address': advertised };
    expect(urlAt(advertisedAddress(flags, interfaces), 6443)).toBe(url);
  });

  test.each([
    ['127.0.0.1', '10.0.0.9', true],
    ['::1', '10.0.0.9', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['127.0.0.1', undefined, false],
    ['0.0.0.0', '10.0.0.9', false],
    ['10.0.0.7', '10.0.0.9', false],
  ])('on %s, advertised as %s, with a warning: %s', (bound, advertised, isWarned) => {
    const warning = addressWarning({ 'bind-address': bound, 'advertise-address': advertised });
    expect(warning !== undefined).toBe(isWarned);
    if (isWarned) expect(warning).toContain(`--advertise-address=10.0.0.9: this server listens on`);
  });
});

describe('endpoints name', () => {
  test.each([
    ['127.0.0.1', undefined, host, '10.0.0.7'],
    ['::1', undefined, host, '10.0.0.7'],
    ['::1', undefined, ipv6Host, 'fd00::7'],
    ['127.0.0.1', undefined, ipv6Host, '127.0.0.1'],
    ['127.0.0.1', undefined, loopback, '127.0.0.1'],
    ['127.0.0.1', '127.0.0.1', host, '127.0.0.1'],
    ['127.0.0.1', '192.0.2.9', host, '192.0.2.9'],
    ['10.1.0.7', undefined, host, '10.1.0.7'],
    ['0.0.0.0', undefined, host, '10.0.0.7'],
    ['0.0.0.0', undefined, loopback, '127.0.0.1'],
  ])('on %s, advertised as %s: %#', (bound, advertised, interfaces, address) => {
    const flags = { 'bind-address': bound, 'advertise-address': advertised };
    expect(publishedAddress(flags, interfaces)).toBe(address);
  });
});

describe('the address to listen on', () => {
  const check = (address: string, port: number) =>
    checkListening({ 'bind-address': address, 'secure-port': port });

  test('is free again once it was looked at, and refused while it is taken', async () => {
    await check('127.0.0.1', 0);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(check('127.0.0.1', port)).rejects.toThrow(
      `--secure-port=${String(port)}: 127.0.0.1:${String(port)} is taken by another process`,
    );
    await new Promise((resolve) => server.close(resolve));
    await check('127.0.0.1', port);
    await check('127.0.0.1', port);
  });

  test.each(['198.51.100.77', '2001:db8::77'])('%s is not of this host', async (address) => {
    const own = Object.values(networkInterfaces())[0]?.[0]?.address ?? '';
    await expect(check(address, 0)).rejects.toThrow(
      `--bind-address=${address}: is no address of this host, which has ${own}`,
    );
  });
});
