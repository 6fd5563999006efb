// The plugins in their order, as the write paths see them: first all that change, later all that
// only validate. A plugin that answers at once costs no promise: `undefined` means done.
import type { MaybePromise } from '../base/maybe-promise.ts';
import { badRequest } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';

export interface AdmissionChain {
  /** @returns whether `object` was changed. @throws StatusError of the plugin that refuses. */
  mutate(request: AdmissionRequest, object: ApiObject, signal: AbortSignal): MaybePromise<boolean>;
  /** @throws StatusError of the plugin that refuses. */
  validate(
    request: AdmissionRequest,
    object: Readonly<ApiObject> | undefined,
    signal: AbortSignal,
  ): MaybePromise<void>;
}

export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
  const validating = plugins.filter((plugin) => plugin.validate !== undefined);
  return {
    mutate: (request, object, signal) =>
      runFrom(0, mutating, request, (plugin) => plugin.mutate?.(request, object, signal)),
    validate(request, object, signal) {
      const done = runFrom(0, validating, request, (plugin) =>
        plugin.validate?.(request, object, signal),
      );
      if (done instanceof Promise) return done.then(() => undefined);
    },
  };
}

/** The result of one plugin, or a promise of it: true where it changed the object. */
type Step = (plugin: AdmissionPlugin) => unknown;

/**
 * One plugin after the other; the first that has to wait makes the rest wait. Returns whether
 * one of them returned true.
 */
function runFrom(
  start: number,
  plugins: readonly AdmissionPlugin[],
  request: AdmissionRequest,
  step: Step,
): MaybePromise<boolean> {
  let isTrue = false;
  for (let index = start; index < plugins.length; index++) {
    const plugin = plugins[index];
    if (plugin?.handles(request) !== true) continue;
    if (request.dryRun && plugin.sideEffects) {
      throw badRequest(`admission plugin ${plugin.name} does not support dry run`);
    }
    const said = step(plugin);
    if (said instanceof Promise) return restAfter(said, isTrue, index);
    if (said === true) isTrue = true;
  }
  return isTrue;

  async function restAfter(
    pending: Promise<unknown>,
    before: boolean,
    index: number,
  ): Promise<boolean> {
    const said = (await pending) === true;
    const rest = await runFrom(index + 1, plugins, request, step);
    return before || said || rest;
  }
}
