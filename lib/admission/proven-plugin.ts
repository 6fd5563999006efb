// A configured plugin whose answers hold: what no transaction will check rests on memory that is
// proven to have the newest rules. That are its refusals, dry runs and connections.
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { RulesInForce } from './in-force.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';

/** Its calls throw BeginAnew in place of a refusal by rules that are no longer in force. */
export function provenPlugin(plugin: AdmissionPlugin, inForce: RulesInForce): AdmissionPlugin {
  const mutate = plugin.mutate?.bind(plugin);
  const beforeDelete = plugin.beforeDelete?.bind(plugin);
  const validate = plugin.validate?.bind(plugin);
  const proven = provenCall(inForce);
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

function provenCall(inForce: RulesInForce): ProvenCall {
  const refused = async (error: unknown, before: number, signal: AbortSignal): Promise<never> => {
    signal.throwIfAborted();
    await inForce.proven(signal);
    throw inForce.revision === before ? error : inForce.changed();
  };
  return (request, signal, call) => {
    if (request.dryRun || request.operation === 'CONNECT') {
      return inForce.proven(signal).then(call);
    }
    const before = inForce.revision;
    try {
      const answer = call();
      if (!(answer instanceof Promise)) return answer;
      return answer.catch((error: unknown) => refused(error, before, signal));
    } catch (error) {
      return refused(error, before, signal);
    }
  };
}
