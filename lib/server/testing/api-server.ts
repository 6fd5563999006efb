// The whole API as one replica serves it, over the stores of a test; everybody may do everything
// unless the test brings its own authorizer.
import type { Auditor } from '../../audit/auditor.ts';
import type { Authenticator } from '../../authn/authenticator.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { featureGates } from '../../config/gates.ts';
import { parseFlags } from '../../config/parse-flags.ts';
import { builtInOwner, ResourceMapHolder } from '../../registry/resource-map.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { Replica } from '../../registry/testing/registry-on-etcd.ts';
import { Health } from '../../telemetry/health.ts';
import type { HealthCheck } from '../../telemetry/health.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import { testMetrics } from '../../telemetry/testing/test-metrics.ts';
import { serveApi } from '../serve-api.ts';
import { testTls } from './test-server.ts';
import type { TestServer } from './test-server.ts';

export interface ApiServerOptions {
  readonly authenticator?: Authenticator;
  readonly authorizer?: Authorizer;
  readonly auditor?: Auditor;
  readonly tracing?: Tracing;
  /** Default: any free port, and no other flag. */
  readonly flags?: readonly string[];
  /** As `--feature-gates` gives them. */
  readonly gates?: Readonly<Record<string, 'true' | 'false'>>;
  readonly checks?: readonly HealthCheck[];
  /** In place of the replica's own. */
  readonly stores?: readonly ResourceStore[];
}

export async function startApiServer(
  { scheme, naming, stores }: Pick<Replica, 'scheme' | 'naming' | 'stores'>,
  options: ApiServerOptions = {},
): Promise<TestServer> {
  const { ca, pair } = await testTls();
  const log: string[] = [];
  const resources = options.stores === undefined ? stores : holderOf(options.stores);
  const { flags, texts } = parseFlags(options.flags ?? ['--secure-port=0']);
  const user = { name: 'tester', uid: '1', groups: ['system:authenticated'], extra: {} };
  const running = await serveApi({
    flags,
    gates: featureGates(new Map(Object.entries(options.gates ?? {}))),
    clock: systemClock,
    logger: createLogger('debug', (line) => void log.push(line)),
    metrics: testMetrics(),
    health: new Health(options.checks ?? []),
    naming,
    scheme,
    resources,
    documents: [],
    authenticator: options.authenticator ?? {
      name: 'test',
      authenticate: () => ({ outcome: 'accepted', user }),
    },
    allowsAnonymous: () => flags['anonymous-auth'],
    authorizer: options.authorizer ?? {
      name: 'test',
      authorize: () => ({ effect: 'allow', reason: '' }),
    },
    auditor: options.auditor,
    tracing: options.tracing,
    tls: { ...pair, clientCa: ca.cert },
    serverAddress: '127.0.0.1:6443',
    version: { major: '1', minor: '36', gitVersion: 'v1.36.0' },
    flagTexts: texts,
    startedAtMs: systemClock.nowMs(),
  });
  return {
    port: running.port,
    ca: ca.cert,
    running,
    log,
    [Symbol.asyncDispose]: () => running.drain({ delayMs: 0, graceMs: 0 }),
  };
}

function holderOf(stores: readonly ResourceStore[]): ResourceMapHolder {
  const resources = new ResourceMapHolder();
  resources.set(builtInOwner, stores);
  return resources;
}
