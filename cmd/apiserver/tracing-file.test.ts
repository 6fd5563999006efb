// TracingConfiguration: which files are read as what, and what refuses the start.
import { describe, expect, test } from '@jest/globals';
import { namingProfile } from '../../lib/api/vendor.ts';
import type { NamingProfileName } from '../../lib/api/vendor.ts';
import { readTracingConfiguration } from './tracing-file.ts';

const read = (fields: string, naming: NamingProfileName = 'kubernetes', version = 'v1') => {
  const profile = namingProfile(naming);
  const apiVersion = profile.resolve(`apiserver.config.{v}/${version}`);
  const head = `apiVersion: ${apiVersion}\nkind: TracingConfiguration\n`;
  return readTracingConfiguration(`${head}${fields}`, profile);
};
const usual = { target: 'dns://localhost:4317', samplingRatePerMillion: 0 };

test.each([
  ['kubernetes', 'v1'],
  ['kubernetes', 'v1beta1'],
  ['kubernetes', 'v1alpha1'],
  ['svc', 'v1'],
] as const)(
  'in the spelling %s, version %s, without fields, it has the defaults',
  (naming, version) => {
    expect(read('', naming, version)).toEqual(usual);
  },
);

test.each([
  ['collector:4317', 'dns://collector:4317'],
  ['collector', 'dns://collector'],
  ['10.0.0.1:80', 'dns://10.0.0.1:80'],
  ["'[::1]:4317'", 'dns://[::1]:4317'],
  ['dns:///collector:4317', 'dns://collector:4317'],
  ['unix:///run/collector.sock', 'unix:///run/collector.sock'],
])('the endpoint %s is dialled as %s', (endpoint, target) => {
  expect(read(`endpoint: ${endpoint}`).target).toBe(target);
});

test.each([0, 1, 1_000_000])('a rate of %d in a million is taken', (rate) => {
  const { samplingRatePerMillion } = read(`samplingRatePerMillion: ${String(rate)}`);
  expect(samplingRatePerMillion).toBe(rate);
});

describe('the start is refused, with the field, by', () => {
  test.each([
    ['samplingRatePerMillion: -1', /^samplingRatePerMillion: Invalid value: -1: .*positive$/],
    ['samplingRatePerMillion: 1000001', /^samplingRatePerMillion: .*equal to one million$/],
    ['samplingRatePerMillion: 0.5', /samplingRatePerMillion: must be a whole number/],
    ['samplingRatePerMillion: many', /samplingRatePerMillion: must be a whole number/],
    ['endpoint: 4317', /endpoint: must be a text/],
    ['endpoint: http://collector:4317', /^endpoint: .*unsupported scheme: http\. Options are/],
    ['endpoint: unix-abstract:///x', /^endpoint: .*abstract sockets cannot be dialled/],
    ['endpoint: unix://run/x', /^endpoint: .*must be unix:\/\/\/PATH/],
    ['endpoint: dns://10.0.0.53/collector:4317', /^endpoint: .*dns:\/\/\/HOST:PORT/],
    ['endpoint: collector:65536', /^endpoint: .*there is no port 65536/],
    ['endpoint: user@collector:1', /^endpoint: .*must be HOST:PORT/],
    ["endpoint: ''", /^endpoint: .*must be HOST:PORT/],
    ['endpoints: collector:4317', /unknown field "endpoints"/],
    ['endpoint: a:1\nendpoint: b:1', /duplicate field "endpoint"/],
  ])('%s', (fields, message) => {
    expect(() => read(fields)).toThrow(message);
  });

  test.each([
    ['', /the file is empty/],
    ['[]', /must hold an object/],
    ['kind: TracingConfiguration', /version/],
    ['kind: Policy\napiVersion: apiserver.config.k8s.io/v1', /Policy/],
    ['kind: TracingConfiguration\napiVersion: apiserver.config.k8s.io/v2', /v2/],
    ['kind: TracingConfiguration\napiVersion: apiserver.config.svc.io/v1', /svc\.io/],
  ])('a document such as %j', (text, message) => {
    const profile = namingProfile('kubernetes');
    expect(() => readTracingConfiguration(text, profile)).toThrow(message);
  });
});
