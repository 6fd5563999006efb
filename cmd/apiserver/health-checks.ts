// What livez, readyz and healthz look at.
import type { Clock } from '../../lib/base/clock.ts';
import type { Cache, CacheHealth } from '../../lib/cacher/cache.ts';
import type { HealthCheck } from '../../lib/telemetry/health.ts';

export interface Lifecycle {
  isDraining: boolean;
}

export interface HealthCheckOptions {
  readonly cache: Cache;
  readonly lifecycle: Readonly<Lifecycle>;
  readonly clock: Clock;
  readonly startedAtMs: number;
  /** Why the default roles are not there; undefined: they are. */
  readonly roles: { readonly failure: string | undefined };
  /** Those of custom resources; undefined: they are not served. */
  readonly definitions: { readonly isWhole: boolean } | undefined;
  /** `--livez-grace-period`. */
  readonly graceMs: number;
}

export function healthChecks(options: HealthCheckOptions): HealthCheck[] {
  const { cache, lifecycle, clock } = options;
  const inGrace = (): boolean => clock.monotonicMs() - options.startedAtMs < options.graceMs;
  const filled = (): string | undefined => {
    const health = cache.health();
    return health.loadCount > 0
      ? undefined
      : `caches are being filled: ${health.lastError ?? health.state}`;
  };
  const live = (): string | undefined => {
    const health = cache.health();
    return health.isLive ? undefined : `the watch stream stands still: ${silence(health)}`;
  };
  /** Filling takes as long as there is much to fill with: ending the process would not help. */
  const moving = (): string | undefined => {
    const health = cache.health();
    return health.isMoving ? undefined : `nothing comes from etcd: ${silence(health)}`;
  };
  return [
    {
      name: 'etcd',
      endpoints: ['livez', 'readyz', 'healthz'],
      failure: () => (inGrace() ? undefined : moving()),
    },
    { name: 'caches-filled', endpoints: ['readyz', 'healthz'], failure: filled },
    { name: 'caches-live', endpoints: ['readyz', 'healthz'], failure: live },
    {
      name: 'cache-memory',
      endpoints: ['readyz', 'healthz'],
      failure: () => undefined,
      notice: () =>
        cache.health().memory.isOver ? 'current state exceeds --cache-memory-mb' : undefined,
    },
    {
      name: 'stored-objects',
      endpoints: ['readyz', 'healthz'],
      failure: () => undefined,
      notice: () => unreadable(cache.health().corrupted),
    },
    {
      name: 'poststarthook/rbac/bootstrap-roles',
      endpoints: ['readyz', 'healthz'],
      failure: () => options.roles.failure,
    },
    {
      name: 'poststarthook/crd-informer-synced',
      endpoints: ['readyz', 'healthz'],
      failure: () =>
        options.definitions?.isWhole === false
          ? 'the definitions of custom resources are being read'
          : undefined,
    },
    {
      name: 'shutdown',
      endpoints: ['readyz'],
      failure: () => (lifecycle.isDraining ? 'the server is shutting down' : undefined),
    },
  ];
}

const silence = ({ lastError, state, silentMs }: CacheHealth): string =>
  `${lastError ?? state}, silent for ${String(Math.round(silentMs))} ms`;

function unreadable(corrupted: ReadonlyMap<string, string>): string | undefined {
  if (corrupted.size === 0) return undefined;
  const [first = ''] = corrupted.keys();
  return `${String(corrupted.size)} stored objects cannot be read, such as ${first}`;
}
