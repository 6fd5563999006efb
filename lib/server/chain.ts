// THE filter order: the outer ones, then the inner; first = outermost. A request passes them from
// top to bottom; when its response is over they close from bottom to top.
import type { NamingProfile } from '../api/vendor.ts';
import type { AllowsAnonymous } from '../authn/anonymous.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { Authenticator } from '../authn/authenticator.ts';
import type { IdentityHeaders } from '../authn/identity-headers.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Clock } from '../base/clock.ts';
import type { RequestMetrics } from '../telemetry/request-metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Connections } from './connections.ts';
import { auditFilter, auditRefusedCredentials } from './filters/audit.ts';
import { authenticateFilter } from './filters/authenticate.ts';
import { authorizeFilter } from './filters/authorize.ts';
import { connectionFilter } from './filters/connection.ts';
import { contextFilter } from './filters/context.ts';
import { deadlineFilter } from './filters/deadline.ts';
import { impersonateFilter } from './filters/impersonate.ts';
import { metricsFilter } from './filters/metrics.ts';
import { panicFilter } from './filters/panic.ts';
import type { PanicFilterOptions } from './filters/panic.ts';
import { proofFilter } from './filters/proof.ts';
import { checkScope } from './filters/scope.ts';
import { requestTraces } from './filters/trace.ts';
import type { ResourceMap } from '../registry/resource-map.ts';
import { checkHead } from './message-rules.ts';
import type { FindEntry } from './open-request.ts';
import type { OpenRequests } from './open-requests.ts';
import type { Filter, RequestContext } from './request-context.ts';

export interface OuterFilterOptions extends PanicFilterOptions {
  readonly clock: Clock;
  readonly findEntry: FindEntry;
  readonly metrics: RequestMetrics;
  readonly connections: Connections;
  readonly openRequests: OpenRequests<RequestContext>;
  readonly requestTimeoutMs: number;
  readonly goawayChance: number;
}

/** What every request has around it, whoever sends it. */
export function outerFilters(options: OuterFilterOptions): readonly Filter[] {
  return [
    contextFilter(options), // what the path means, audit id
    panicFilter(options), // a Status for each failure of what follows
    metricsFilter(options),
    connectionFilter(options), // GOAWAY
    deadlineFilter(options), // 504
    checkHead, // 400, 417
  ];
}

export interface InnerFilterOptions {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  /** Gate ConstrainedImpersonation. */
  readonly isConstrained: boolean;
  readonly allowsAnonymous: AllowsAnonymous;
  readonly identityHeaders?: IdentityHeaders;
  /** undefined: requests are not recorded. */
  readonly auditor?: Auditor | undefined;
  /** undefined: requests are not traced. */
  readonly tracing?: Tracing | undefined;
  readonly resourceMap: ResourceMap;
  /** The handlers of resource requests. */
  readonly resources: Filter;
  /** Paths that are no resources: health, metrics, version, discovery. */
  readonly operatorPaths: Filter;
}

/** Who asks, whether they may, and what answers. */
export function innerFilters(options: InnerFilterOptions): readonly Filter[] {
  const { auditor, tracing } = options;
  const onRefused = auditor && auditRefusedCredentials(auditor);
  const traces = tracing && requestTraces(tracing, options.clock);
  const step = (name: string, filter: Filter): Filter => traces?.step(name, filter) ?? filter;
  return [
    ...(traces === undefined ? [] : [traces.arrived]),
    authenticateFilter({ ...options, onRefused }), // 401
    ...(traces === undefined ? [] : [traces.traced]),
    ...(auditor === undefined ? [] : [step('audit', auditFilter(auditor))]), // 500: not recorded
    step('impersonation', impersonateFilter(options)), // 400, 403
    proofFilter(options.resourceMap), // 503 before anything was read
    checkScope, // 404 where the path's scope is not the resource's
    step('authorization', authorizeFilter(options.authorizer)), // 403
    options.resources, // everything below /api and /apis that names a resource
    options.operatorPaths, // everything else
  ];
}
