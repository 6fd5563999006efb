// Tells the metrics, and the store of documents, what changes in OpenAPI by definitions that come,
// change and go.
import type { ResourceInfo } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { tellChanges } from '../discovery/openapi-changes.ts';
import type { OpenApiObserver } from '../discovery/openapi-changes.ts';
import type { OpenApi } from '../discovery/openapi.ts';
import type { ResourceEntry, ResourceMapHolder } from '../registry/resource-map.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export function followOpenApi(
  resources: ResourceMapHolder,
  openApi: Pick<OpenApi, 'drop'>,
  metrics: Metrics,
): void {
  const observer = countingObserver(metrics);
  tellChanges([], recordsOf(resources.all), observer);
  resources.follow((former, now) => {
    const [before, after] = [recordsOf(former), recordsOf(now)];
    for (const resource of before) if (!after.includes(resource)) openApi.drop(resource);
    tellChanges(before, after, observer);
  });
}

/** Of kinds that come at run time. */
const recordsOf = (entries: readonly ResourceEntry[]): readonly ResourceInfo[] =>
  entries.flatMap((entry) =>
    'proxy' in entry || entry.resource.published === undefined ? [] : [entry.resource],
  );

function countingObserver({ series }: Metrics): OpenApiObserver {
  const whole = series.apiextensions_openapi_v2_regeneration_count;
  const parts = series.apiextensions_openapi_v3_regeneration_count;
  const counted = new Set<string>();
  return {
    onWhole(definition, reason) {
      whole.child(definition, reason).value++;
    },
    onPart({ definition, group, version }, reason) {
      if (counted.size >= limits.openapiCountedDefinitionsMax && !counted.has(definition)) {
        counted.clear();
        whole.clear();
        parts.clear();
      }
      counted.add(definition);
      parts.child(definition, group, reason, version).value++;
    },
  };
}
