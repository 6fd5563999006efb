// The plugins in their order, as the write paths see them: first all that change, later all that
// only judge. What answers at once costs no promise: `undefined` means done.
import type { MaybePromise } from '../base/maybe-promise.ts';
import { badRequest } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';

export interface AdmissionChain {
  /** @throws StatusError of the plugin that refuses. */
  mutate(request: AdmissionRequest, object: ApiObject, signal: AbortSignal): MaybePromise<void>;
  validate(
    request: AdmissionRequest,
    object: Readonly<ApiObject> | undefined,
    signal: AbortSignal,
  ): MaybePromise<void>;
}

type Step = (plugin: AdmissionPlugin) => MaybePromise<void>;

export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
  const validating = plugins.filter((plugin) => plugin.validate !== undefined);
  return {
    mutate: (request, object, signal) =>
      runFrom(0, mutating, request, (plugin) => plugin.mutate?.(request, object, signal)),
    validate: (request, object, signal) =>
      runFrom(0, validating, request, (plugin) => plugin.validate?.(request, object, signal)),
  };
}

/** One plugin after the other; the first that has to wait makes the rest wait for it. */
function runFrom(
  start: number,
  plugins: readonly AdmissionPlugin[],
  request: AdmissionRequest,
  step: Step,
): MaybePromise<void> {
  for (let index = start; index < plugins.length; index++) {
    const plugin = plugins[index];
    if (plugin?.handles(request) !== true) continue;
    if (request.dryRun && plugin.sideEffects) {
      throw badRequest(`admission plugin ${plugin.name} does not support dry run`);
    }
    const pending = step(plugin);
    if (pending !== undefined) {
      return pending.then(() => runFrom(index + 1, plugins, request, step));
    }
  }
}
