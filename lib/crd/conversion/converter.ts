// How objects of a definition convert between its versions: strategy None, which changes nothing
// but apiVersion, or a webhook. What comes of either is what the target's schema knows.
import { apiVersionOf } from '../../api/type-info.ts';
import { canonicalObject } from '../../codec/normalise.ts';
import type { Converter } from '../../registry/conversion.ts';
import { conversionError } from './conversion-error.ts';
import type { ConversionMetrics } from './conversion-metrics.ts';
import type { ConversionWebhook } from './conversion-webhook.ts';
import { convertByReview } from './convert-by-review.ts';
import type { ConvertedVersion } from './converted-object.ts';

export interface ConversionSource {
  /** Of the definition, for metrics. */
  readonly name: string;
  /** All versions that the definition has, served or not. */
  readonly versions: readonly ConvertedVersion[];
  /** Another one after each change of the definition. */
  readonly generation: string;
  /** undefined: strategy None. */
  readonly webhook: ConversionWebhook | undefined;
  readonly metrics: ConversionMetrics;
}

export function converterOf(source: ConversionSource): Converter {
  const { versions, generation, webhook } = source;
  const byName = new Map(versions.map((version) => [apiVersionOf(version.kind), version]));
  const versionOf = (apiVersion: string, way: 'to' | 'from'): ConvertedVersion => {
    const version = byName.get(apiVersion);
    if (version !== undefined) return version;
    throw conversionError(`request to convert CR ${way} an invalid group/version: ${apiVersion}`);
  };
  if (webhook === undefined) {
    return {
      generation,
      convert(object, toApiVersion) {
        const { apiVersion = '' } = object;
        if (apiVersion === toApiVersion) return { ...object };
        const { type } = versionOf(toApiVersion, 'to');
        versionOf(apiVersion, 'from');
        return canonicalObject({ ...object, apiVersion: toApiVersion }, type);
      },
    };
  }
  return {
    generation,
    async convertAll(objects, toApiVersion, listIndex) {
      const to = versionOf(toApiVersion, 'to');
      for (const { apiVersion = '' } of objects) versionOf(apiVersion, 'from');
      const others = objects.filter(({ apiVersion }) => apiVersion !== toApiVersion);
      if (others.length === 0) return objects;
      const converted = await convertByReview({ objects: others, to, listIndex }, webhook, source);
      let next = 0;
      return objects.map((object) =>
        object.apiVersion === toApiVersion ? object : (converted[next++] ?? object),
      );
    },
  };
}
