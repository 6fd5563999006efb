// What admission plugins are made of: the server that they work in, and what they know of the
// cluster.
import type { Scheme } from '../api/scheme.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Clock } from '../base/clock.ts';
import type { Flags } from '../config/flags.ts';
import type { FeatureGates } from '../config/gates.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { ServedResources } from './served-resources.ts';
import type { ClientParts } from '../client/open-target.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Logger } from '../base/log.ts';
import type { Objects } from './objects.ts';
import type { WebhookCaller } from './webhooks/caller.ts';
import type { PodSecurityObserver } from './pod-security/observer.ts';
import type { StaticManifests } from './static-manifests.ts';

export interface PluginParts {
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly scheme: Scheme;
  readonly authorizer: Authorizer;
  readonly gates: Pick<FeatureGates, 'isEnabled'>;
  readonly flags: Pick<
    Flags,
    'default-not-ready-toleration-seconds' | 'default-unreachable-toleration-seconds'
  >;
  /** undefined: this server does not serve the resource. The group has placeholders. */
  objects(group: string, resource: string): Objects | undefined;
  /** Makes an object as the server itself. @throws StatusError as a request would be refused. */
  create(
    of: Pick<ResourceInfo, 'group' | 'version' | 'resource'>,
    object: ApiObject,
    signal: AbortSignal,
  ): Promise<unknown>;
  /** Has `close` called when the server ends. */
  atEnd(close: () => void): void;
  /** What requests may name now, custom kinds too. */
  readonly served: ServedResources;
  /** Configurations in files. */
  readonly manifests: StaticManifests;
  /** Of outgoing calls, to services of the cluster too. */
  readonly calls: ClientParts;
  /**
   * What calls the admission webhooks of one plugin. @param kubeconfigFile of its configuration:
   * who the server is for which host
   */
  openWebhookCaller(kubeconfigFile: string | undefined): WebhookCaller;
  readonly metrics: Metrics;
  /** undefined: requests are not traced. */
  readonly tracing?: Tracing | undefined;
  readonly log: Logger;
  /** The document of `--admission-control-config-file` for a plugin, parsed and not checked. */
  configurationOf(name: string): object | undefined;
  readonly podSecurityObserver: PodSecurityObserver;
}
