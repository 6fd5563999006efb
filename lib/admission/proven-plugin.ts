// A configured plugin whose answers hold: what no transaction will check rests on memory that is
// proven to have the newest rules. That are its refusals, dry runs and connections.
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { RulesInForce } from './in-force.ts';
import { labelsOf } from './match/namespace.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import type { ServedResources } from './served-resources.ts';

/** All forms of a resource: rules for one of them may concern the others. */
type FormsOf = ServedResources['equivalentsOf'];

/** Its calls throw BeginAnew in place of a refusal by rules that are no longer in force. */
export function provenPlugin(
  plugin: AdmissionPlugin,
  inForce: RulesInForce,
  formsOf: FormsOf,
): AdmissionPlugin {
  const mutate = plugin.mutate?.bind(plugin);
  const beforeDelete = plugin.beforeDelete?.bind(plugin);
  const validate = plugin.validate?.bind(plugin);
  const proven = provenCall(plugin, inForce, formsOf);
  return {
    ...plugin,
    // What it handles may depend on its rules, too.
    handles: (request) => restsOnProof(request) || plugin.handles(request),
    ...(mutate && {
      mutate: (request, object, signal, pass) =>
        proven({ request, signal }, () => mutate(request, object, signal, pass), false),
    }),
    ...(beforeDelete && {
      beforeDelete: (request, signal) =>
        proven({ request, signal }, () => beforeDelete(request, signal), undefined),
    }),
    ...(validate && {
      validate: (request, object, signal) => {
        const asked = { request, signal, judged: [object, request.old] };
        return proven(asked, () => validate(request, object, signal), undefined);
      },
    }),
  };
}

const restsOnProof = ({ dryRun, operation }: AdmissionRequest): boolean =>
  dryRun || operation === 'CONNECT';

interface Asked {
  readonly request: AdmissionRequest;
  readonly signal: AbortSignal;
  /** The object as it will be, and as it was; absent: it may still get other labels. */
  readonly judged?: readonly (Readonly<ApiObject> | undefined)[];
}

/** `unasked`: the answer where the plugin turns out not to handle the request. */
type ProvenCall = <T>(asked: Asked, call: () => MaybePromise<T>, unasked: T) => MaybePromise<T>;

function provenCall(plugin: AdmissionPlugin, inForce: RulesInForce, formsOf: FormsOf): ProvenCall {
  return ({ request, signal, judged }, call, unasked) => {
    if (restsOnProof(request)) {
      return inForce.proven(signal).then(() => (plugin.handles(request) ? call() : unasked));
    }
    const before = inForce.moment();
    const refused = async (error: unknown): Promise<never> => {
      signal.throwIfAborted();
      await inForce.proven(signal);
      const resources = formsOf(request.resource);
      const labels = judged?.map(labelsOf);
      const place = { resources, namespace: request.namespace, labels };
      throw inForce.haveChanged(before, [place]) ? inForce.changed() : error;
    };
    try {
      const answer = call();
      return answer instanceof Promise ? answer.catch(refused) : answer;
    } catch (error) {
      return refused(error);
    }
  };
}
