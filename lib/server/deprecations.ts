// Requests of deprecated versions and kinds: a warning for the client, annotations for the audit
// event, a metric for the operator. Of all others only two members of the record are read.
import { deprecationOf } from '../api/deprecation.ts';
import type { Deprecation } from '../api/deprecation.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RequestContext } from './request-context.ts';

/** Called once for each request that a handler takes. */
export type NoteDeprecation = (context: RequestContext, resource: ResourceInfo) => void;

export function deprecationNotes(options: {
  /** This server's release: what `/version` says. */
  readonly version: Readonly<Record<string, string>>;
  readonly naming: NamingProfile;
  readonly metrics: Pick<Metrics, 'series'>;
}): NoteDeprecation {
  const { naming, version: own } = options;
  const release = `${own['major'] ?? '1'}.${own['minor'] ?? '0'}`;
  const series = options.metrics.series.apiserver_requested_deprecated_apis;
  const known = new WeakMap<ResourceInfo, Deprecation | null>();
  return (context, resource) => {
    const { life, deprecationWarning } = resource;
    if (life?.deprecated === undefined && deprecationWarning === undefined) return;
    let deprecation = known.get(resource);
    if (deprecation === undefined) {
      deprecation = deprecationOf(resource, release) ?? null;
      known.set(resource, deprecation);
    }
    if (deprecation === null) return;
    const { warning, removedRelease } = deprecation;
    const { group, version } = resource;
    const { subresource } = context.info;
    series.child(group, removedRelease, resource.resource, subresource, version).value = 1;
    if (!context.warnings.includes(warning)) context.warnings.push(warning);
    const annotations = (context.auditAnnotations ??= new Map());
    annotations.set(naming.deprecatedAuditAnnotation, 'true');
    if (removedRelease !== '')
      annotations.set(naming.removedReleaseAuditAnnotation, removedRelease);
  };
}
