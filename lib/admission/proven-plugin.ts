// A configured plugin whose answers hold: what no transaction will check rests on memory that is
// proven to have the newest rules. That are its refusals, dry runs and connections.
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { RulesInForce } from './in-force.ts';
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
  const proven = provenCall(inForce, formsOf);
  return {
    ...plugin,
    handles: (request) => plugin.handles(request),
    ...(mutate && {
      mutate: (request, object, signal, pass) =>
        proven(request, signal, () => mutate(request, object, signal, pass)),
    }),
    ...(beforeDelete && {
      beforeDelete: (request, signal) =>
        proven(request, signal, () => beforeDelete(request, signal)),
    }),
    ...(validate && {
      validate: (request, object, signal) =>
        proven(request, signal, () => validate(request, object, signal)),
    }),
  };
}

type ProvenCall = <T>(
  request: AdmissionRequest,
  signal: AbortSignal,
  call: () => MaybePromise<T>,
) => MaybePromise<T>;

function provenCall(inForce: RulesInForce, formsOf: FormsOf): ProvenCall {
  return (request, signal, call) => {
    if (request.dryRun || request.operation === 'CONNECT') {
      return inForce.proven(signal).then(call);
    }
    const before = inForce.moment();
    const refused = async (error: unknown): Promise<never> => {
      signal.throwIfAborted();
      await inForce.proven(signal);
      const place = { resources: formsOf(request.resource), namespace: request.namespace };
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
