// A converter of walls by a webhook, and objects to give to it.
import { loadResourceSchema } from '../../../api/load-schema.ts';
import { namingProfile } from '../../../api/vendor.ts';
import { StatusError } from '../../../base/status.ts';
import type { ApiObject } from '../../../codec/codec.ts';
import { builtInScheme } from '../../../kinds/built-in-kinds.ts';
import type { ConvertAll } from '../../../registry/conversion.ts';
import { testMetrics } from '../../../telemetry/testing/test-metrics.ts';
import { ConversionMetrics } from '../conversion-metrics.ts';
import type { ConversionWebhook } from '../conversion-webhook.ts';
import type { ConvertedVersion } from '../converted-object.ts';
import { converterOf } from '../converter.ts';

export const metrics = testMetrics();
const naming = namingProfile('svc');
const objectMeta = builtInScheme({ profile: naming }).type('meta/v1.ObjectMeta');

const wallVersion = (version: string, schema: object): ConvertedVersion => ({
  kind: { group: 'example.com', version, kind: 'Wall' },
  type: loadResourceSchema(schema, {
    id: `example.com/${version}.Wall`,
    objectMeta,
    profile: naming,
  }),
});

const withField = (field: string): object => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: { [field]: { type: 'string' } } } },
});

export const wallVersions = [
  wallVersion('v1', withField('color')),
  wallVersion('v2', withField('paint')),
  wallVersion('v3', withField('tint')),
  wallVersion('v4', { type: 'object', 'x-svc-preserve-unknown-fields': true }),
];

export function convertingBy(
  webhook: ConversionWebhook,
  name = 'walls.example.com',
  counted = metrics,
): ConvertAll {
  const converter = converterOf({
    name,
    versions: wallVersions,
    generation: '1',
    webhook,
    metrics: new ConversionMetrics(counted.series),
  });
  if (!('convertAll' in converter)) throw new Error('a webhook waits');
  return converter.convertAll;
}

export const wallObject = (
  name: string,
  color = 'red',
  apiVersion = 'example.com/v1',
): ApiObject => ({
  kind: 'Wall',
  apiVersion,
  metadata: {
    name,
    namespace: 'ns',
    uid: `uid-${name}`,
    resourceVersion: '7',
    creationTimestamp: '2026-01-02T03:04:05Z',
    labels: { a: 'b' },
    finalizers: ['example.com/hold'],
  },
  spec: { color },
});

/** The message of what must fail, with the code of every failed conversion. */
export async function failureOf(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof StatusError)) throw error as Error;
  if (error.code === 500 && error.reason === '') return error.message;
  return `${String(error.code)} ${error.reason}`;
}
