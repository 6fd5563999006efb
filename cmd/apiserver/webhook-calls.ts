// The calls of admission webhooks: as whom, where to, and the Events about those that fail.
import { openWebhookCaller } from '../../lib/admission/webhooks/open-caller.ts';
import type { OnCircuit, OwnServer } from '../../lib/admission/webhooks/open-caller.ts';
import { CallMetrics } from '../../lib/admission/webhooks/call-metrics.ts';
import type { WebhookCaller } from '../../lib/admission/webhooks/caller.ts';
import { serverUser } from '../../lib/base/user.ts';
import { readIdentities } from '../../lib/client/host-identities.ts';
import type { ClientParts } from '../../lib/client/open-target.ts';
import {
  defaultServiceName,
  defaultServiceNamespace,
} from '../../lib/controllers/default-service.ts';
import { recordEvent } from '../../lib/controllers/events.ts';
import type { Occurrence } from '../../lib/controllers/events.ts';
import { internalClient } from '../../lib/registry/internal-client.ts';
import type { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { Base } from './base.ts';
import { parseClientConfig } from './client-parts.ts';
import type { OwnCredentials } from './credentials.ts';
import { fileError } from './file-problem.ts';
import { isUnspecified } from './own-address.ts';

export interface WebhookCalls {
  /** @param kubeconfigFile who the server is for which host */
  open(calls: ClientParts, kubeconfigFile: string | undefined): WebhookCaller;
  /** Resolves when all files of those can be used. @throws FlagError */
  checked(): Promise<void>;
  /** From now on webhooks may be served by this server itself. */
  serve(at: Pick<OwnCredentials, 'own' | 'serverCa'> & { readonly port: number }): void;
}

export function webhookCalls(
  base: Pick<Base, 'naming' | 'clock' | 'logger' | 'metrics' | 'flags' | 'started'>,
  resources: ResourceMapHolder,
): WebhookCalls {
  const { naming, clock, logger, metrics, flags, started } = base;
  const ending = new AbortController();
  started.defer(() => ending.abort(new Error('the server stops')));
  const callMetrics = new CallMetrics(metrics);
  const onCircuit = circuitEvents(base, resources, ending.signal);
  const files = new Set<string>();
  let own: OwnServer | undefined;
  return {
    open(calls, kubeconfigFile) {
      const caller = openWebhookCaller({
        ...{ calls, clock, kubeconfigFile, onCircuit },
        log: logger,
        metrics: callMetrics,
        userAgent: naming.resolve('{kube}-apiserver-admission'),
        breaksCircuits: flags['admission-webhook-circuit-breaker'],
        own: () => own,
      });
      started.defer(() => caller.close());
      if (kubeconfigFile !== undefined) files.add(kubeconfigFile);
      return caller;
    },
    async checked() {
      for (const file of files) {
        try {
          (await readIdentities(file, parseClientConfig)).make();
        } catch (error) {
          throw fileError('admission-control-config-file', file, error);
        }
      }
    },
    serve({ own: clientCertificate, serverCa, port }) {
      const bound = flags['bind-address'];
      own = {
        service: { namespace: defaultServiceNamespace, name: defaultServiceName(naming) },
        address: { ip: isUnspecified(bound) ? loopbackOf(bound) : bound, port },
        ca: serverCa,
        identity: { clientCertificate },
      };
    },
  };
}

const loopbackOf = (unspecified: string): string =>
  unspecified.includes(':') ? '::1' : '127.0.0.1';

const kinds = {
  admit: 'MutatingWebhookConfiguration',
  validating: 'ValidatingWebhookConfiguration',
} as const;

/** One for each time that a webhook is called no more, and one when it is again. */
function circuitEvents(
  { naming, clock, logger: log }: Pick<Base, 'naming' | 'clock' | 'logger'>,
  resources: ResourceMapHolder,
  signal: AbortSignal,
): OnCircuit {
  const component = naming.resolve('{kube}-apiserver');
  const client = internalClient(serverUser);
  const apiVersion = naming.resolve('admissionregistration.{v}/v1');
  return ({ webhook, configuration, type }, problem) => {
    const events = resources.current.find({ group: '', version: 'v1', resource: 'events' });
    const about = { kind: kinds[type], apiVersion, namespace: '', ...configuration };
    const told = JSON.stringify(webhook);
    const occurrence: Occurrence =
      problem === undefined
        ? { type: 'Normal', reason: 'WebhookAnswers', message: `webhook ${told} answers again` }
        : {
            type: 'Warning',
            reason: 'WebhookUnreachable',
            message: `webhook ${told} is only tried once a second now, its calls fail: ${problem}`,
          };
    const recorder = { events, client, clock, log, component };
    void recordEvent(recorder, about, occurrence, signal);
  };
}
