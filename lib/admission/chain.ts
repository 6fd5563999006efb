// The plugins in their order, as the write paths see them: first all that change, once more where a
// configured one did, later all that only validate. One that answers at once costs no promise.
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { badRequest } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { AdmissionPlugin, AdmissionRequest, MutatingPass } from './plugin.ts';

/** Whether a plugin changed the object, and whether a configured one did. */
export type Changed = 'no' | 'yes' | 'byConfigured';

export interface AdmissionChain {
  /** Whether `mutate` shows the object to any plugin: else it is left as it is. */
  mutates(request: AdmissionRequest): boolean;
  /** @throws StatusError of the plugin that refuses. */
  mutate(request: AdmissionRequest, object: ApiObject, signal: AbortSignal): MaybePromise<Changed>;
  /** The mutating phase of a DELETE. @throws StatusError of the plugin that refuses. */
  beforeDelete(request: AdmissionRequest, signal: AbortSignal): MaybePromise<void>;
  /** @throws StatusError of the plugin that refuses. */
  validate(
    request: AdmissionRequest,
    object: Readonly<ApiObject> | undefined,
    signal: AbortSignal,
  ): MaybePromise<void>;
}

export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
  const deleting = plugins.filter((plugin) => plugin.beforeDelete !== undefined);
  const validating = plugins.filter((plugin) => plugin.validate !== undefined);
  return {
    mutates: (request) => mutating.some((plugin) => plugin.handles(request)),
    mutate(request, object, signal) {
      const kept: MutatingPass['kept'] = new Map();
      const pass = (index: 0 | 1): MaybePromise<Changed> =>
        runFrom(0, mutating, request, (plugin) =>
          plugin.mutate?.(request, object, signal, { index, kept }),
        );
      return whenThere(pass(0), (first) =>
        first === 'byConfigured' ? whenThere(pass(1), () => first) : first,
      );
    },
    beforeDelete: (request, signal) =>
      whenThere(
        runFrom(0, deleting, request, (plugin) => plugin.beforeDelete?.(request, signal)),
        () => undefined,
      ),
    validate: (request, object, signal) =>
      whenThere(
        runFrom(0, validating, request, (plugin) => plugin.validate?.(request, object, signal)),
        () => undefined,
      ),
  };
}

/** The result of one plugin, or a promise of it: true where it changed the object. */
type Step = (plugin: AdmissionPlugin) => unknown;

function after(before: Changed, plugin: AdmissionPlugin, said: unknown): Changed {
  if (said !== true || before === 'byConfigured') return before;
  return plugin.isConfigured === true ? 'byConfigured' : 'yes';
}

/** One plugin after the other; the first that has to wait makes the rest wait. */
function runFrom(
  start: number,
  plugins: readonly AdmissionPlugin[],
  request: AdmissionRequest,
  step: Step,
  before: Changed = 'no',
): MaybePromise<Changed> {
  let changed = before;
  for (let index = start; index < plugins.length; index++) {
    const plugin = plugins[index];
    if (plugin?.handles(request) !== true) continue;
    if (request.dryRun && plugin.sideEffects) {
      throw badRequest(`admission plugin ${plugin.name} does not support dry run`);
    }
    const said = step(plugin);
    if (said instanceof Promise) {
      const soFar = changed;
      return said.then((value: unknown) =>
        runFrom(index + 1, plugins, request, step, after(soFar, plugin, value)),
      );
    }
    changed = after(changed, plugin, said);
  }
  return changed;
}
