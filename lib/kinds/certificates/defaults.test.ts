import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { createDefaults } from '../../api/defaults.ts';
import { readCertificateRequest } from './request-fields.ts';
import { profile, scheme } from '../testing/completed-cases.ts';
import { signingRequestDefaults } from './defaults.ts';

/** Requests in PEM as base64, made with openssl, for a node unless the name says otherwise. */
const requests = {
  client: [
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIck1JR1NBZ0VBTURBeEZUQVRCZ05WQkFvTURI',
    'TjVjM1JsYlRwdWIyUmxjekVYTUJVR0ExVUVBd3dPYzNsegpkR1Z0T201dlpHVTZiakV3V1RBVEJnY3Foa2pPUFFJ',
    'QkJnZ3Foa2pPUFFNQkJ3TkNBQVNFOXVkRFNFTXluMVNtCnN2TlBVaGl6ejdoTWVUdnJFTStNUjV6aFh0aGlsTWp4',
    'RkF4KzIvNENtQkpQTkV2UVlXQXNsc3BQVFZsWEdCc2MKSnM4LzNNaWNvQUF3Q2dZSUtvWkl6ajBFQXdJRFNBQXdS',
    'UUlnWkZKamdQWlUvZmEyTmJyd2dLYUx1UnJLVzVTaQpOMnhzb2FMMmFJTGpZdU1DSVFEeGdVZjVHWXJUbFJjbVBI',
    'OW1wN1JzUkZ2bkl6SVNvMk5UV2dZTXJ2ZDdVUT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=',
  ].join(''),
  serving: [
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkVEQ0J1QUlCQURBd01SVXdFd1lEVlFRS0RB',
    'eHplWE4wWlcwNmJtOWtaWE14RnpBVkJnTlZCQU1NRG5ONQpjM1JsYlRwdWIyUmxPbTR4TUZrd0V3WUhLb1pJemow',
    'Q0FRWUlLb1pJemowREFRY0RRZ0FFaFBiblEwaERNcDlVCnByTHpUMUlZczgrNFRIazc2eERQakVlYzRWN1lZcFRJ',
    'OFJRTWZ0ditBcGdTVHpSTDBHRmdMSmJLVDAxWlZ4Z2IKSENiUFA5ekluS0FtTUNRR0NTcUdTSWIzRFFFSkRqRVhN',
    'QlV3RXdZRFZSMFJCQXd3Q29JQ2JqR0hCQW9BQUFFdwpDZ1lJS29aSXpqMEVBd0lEUndBd1JBSWdjRzdIU3prekJ2',
    'bG4rUks5RzNNQ1ZTd3NTZko5Y0hRT3VHSlJaemtPCmlaWUNJR1psd0Nnc2VjTDJucWRSaVpnRk5xYzQ5MGMvV3R4',
    'RkE5M2tEOGxoL2FidAotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K',
  ].join(''),
  mail: [
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkR6Q0J0UUlCQURBd01SVXdFd1lEVlFRS0RB',
    'eHplWE4wWlcwNmJtOWtaWE14RnpBVkJnTlZCQU1NRG5ONQpjM1JsYlRwdWIyUmxPbTR4TUZrd0V3WUhLb1pJemow',
    'Q0FRWUlLb1pJemowREFRY0RRZ0FFaFBiblEwaERNcDlVCnByTHpUMUlZczgrNFRIazc2eERQakVlYzRWN1lZcFRJ',
    'OFJRTWZ0ditBcGdTVHpSTDBHRmdMSmJLVDAxWlZ4Z2IKSENiUFA5ekluS0FqTUNFR0NTcUdTSWIzRFFFSkRqRVVN',
    'Qkl3RUFZRFZSMFJCQWt3QjRFRllVQmlMbU13Q2dZSQpLb1pJemowRUF3SURTUUF3UmdJaEFKNXp6WVg3dDJUM2Ez',
    'bDBkSUszRTBiL3BEQ0pEby9TaWhhZ2liRkZCL0F0CkFpRUEvbE9JOUtJbHpUbTU1UzlBcWlNa1djcDU1UUczbnFH',
    'b1FocmxSdTNCVC9FPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K',
  ].join(''),
  other: [
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIYk1JR0NBZ0VBTUNBeER6QU5CZ05WQkFvTUJu',
    'QmxiM0JzWlRFTk1Bc0dBMVVFQXd3RWFtRnVaVEJaTUJNRwpCeXFHU000OUFnRUdDQ3FHU000OUF3RUhBMElBQklU',
    'MjUwTklRektmVktheTgwOVNHTFBQdUV4NU8rc1F6NHhICm5PRmUyR0tVeVBFVURIN2IvZ0tZRWs4MFM5QmhZQ3lX',
    'eWs5TldWY1lHeHdtenovY3lKeWdBREFLQmdncWhrak8KUFFRREFnTklBREJGQWlCNUVVNHptdWtheG0zbzYwUGVM',
    'SDBBVVRTendjc0JDU004cmVQNE9PSUllUUloQU5GVQpPQlFwUWp2VXpTaG9ZZDlESXp1a0hRaThtUDNLY0FMYkRR',
    'WXkvcEtjCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=',
  ].join(''),
  two: [
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlINk1JR2hBZ0VBTUQ4eEZUQVRCZ05WQkFvTURI',
    'TjVjM1JsYlRwdWIyUmxjekVOTUFzR0ExVUVDZ3dFYlc5eQpaVEVYTUJVR0ExVUVBd3dPYzNsemRHVnRPbTV2WkdV',
    'NmJqRXdXVEFUQmdjcWhrak9QUUlCQmdncWhrak9QUU1CCkJ3TkNBQVNFOXVkRFNFTXluMVNtc3ZOUFVoaXp6N2hN',
    'ZVR2ckVNK01SNXpoWHRoaWxNanhGQXgrMi80Q21CSlAKTkV2UVlXQXNsc3BQVFZsWEdCc2NKczgvM01pY29BQXdD',
    'Z1lJS29aSXpqMEVBd0lEU0FBd1JRSWhBUFoyOEtTagpmMUg4UWZScENtNUlsSXVlSUNxa2l3Z3h0YjNXQURaRnU5',
    'V3BBaUJLaldqYWN0R3VEdjBaLzZ3cGVuUnZIL0R6CnF5RUJaM2NWQ0xXWEpDZzJNUT09Ci0tLS0tRU5EIENFUlRJ',
    'RklDQVRFIFJFUVVFU1QtLS0tLQo=',
  ].join(''),
};
const defaults = createDefaults(
  { profile, isOn: () => true, nowMs: () => 0 },
  signingRequestDefaults,
);
const type = scheme.type('certificates/v1beta1.CertificateSigningRequestSpec');
const client = ['digital signature', 'client auth'];
const serving = ['digital signature', 'server auth'];
const node = 'kubernetes.io/kube-apiserver-client-kubelet';
const nodeServing = 'kubernetes.io/kubelet-serving';
const unknown = 'kubernetes.io/legacy-unknown';

test.each<[keyof typeof requests, readonly string[], string]>([
  ['client', client, node],
  ['client', [...client, 'key encipherment'], node],
  ['client', serving, unknown],
  ['client', [...client, 'code signing'], unknown],
  ['serving', serving, nodeServing],
  ['serving', client, unknown],
  ['mail', client, unknown],
  ['other', client, unknown],
  ['two', client, unknown],
])('a request (%s, for %j) is for the signer of %s', (name, usages, signerName) => {
  const spec: JsonObject = { request: requests[name], usages: [...usages] };
  defaults.apply(spec, type);
  expect(spec['signerName']).toBe(signerName);
});

test('a signer that is named stays', () => {
  const spec: JsonObject = { request: requests.client, usages: client, signerName: 'a.b/c' };
  defaults.apply(spec, type);
  expect(spec['signerName']).toBe('a.b/c');
});

test('a request says what it asks for', () => {
  expect(readCertificateRequest(requests.serving)).toEqual({
    organizations: ['system:nodes'],
    commonName: 'system:node:n1',
    hasHosts: true,
    hasOthers: false,
  });
});

test('bytes that are no request are none, wherever they break', () => {
  const pem = Buffer.from(requests.serving, 'base64').toString('latin1');
  const lines = pem.trim().split('\n');
  const der = Buffer.from(lines.slice(1, -1).join(''), 'base64');
  const wrapped = (bytes: Uint8Array): string =>
    Buffer.from(
      [lines[0], Buffer.from(bytes).toString('base64'), lines.at(-1)].join('\n'),
    ).toString('base64');
  expect(readCertificateRequest(wrapped(der))).toBeDefined();
  for (let length = 0; length < der.length; length += 1) {
    expect(readCertificateRequest(wrapped(der.subarray(0, length)))).toBeUndefined();
  }
  for (let at = 0; at < der.length; at += 1) {
    const broken = Buffer.from(der);
    broken[at] = (broken[at] ?? 0) ^ 0xff;
    expect(() => readCertificateRequest(wrapped(broken))).not.toThrow();
  }
  expect(readCertificateRequest('')).toBeUndefined();
});
