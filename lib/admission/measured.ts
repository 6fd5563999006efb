// Admission whose plugins and steps tell how long each took, and whether it refused.
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { AdmissionChain } from './chain.ts';
import type { AdmissionOperation, AdmissionPlugin } from './plugin.ts';
import type { AdmissionRequest } from './plugin.ts';

export type AdmissionType = 'admit' | 'validate';
export type AdmissionOutcome = 'admitted' | 'rejected';

export interface AdmissionObserver {
  onPlugin(
    name: string,
    operation: AdmissionOperation,
    type: AdmissionType,
    outcome: AdmissionOutcome,
    seconds: number,
  ): void;
  /** All plugins of a type, for one write. */
  onStep(
    operation: AdmissionOperation,
    type: AdmissionType,
    outcome: AdmissionOutcome,
    seconds: number,
  ): void;
}

type Tell = AdmissionObserver['onStep'];

export function measuredPlugin(
  plugin: AdmissionPlugin,
  observer: AdmissionObserver,
): AdmissionPlugin {
  const { name } = plugin;
  const mutate = plugin.mutate?.bind(plugin);
  const beforeDelete = plugin.beforeDelete?.bind(plugin);
  const validate = plugin.validate?.bind(plugin);
  const tell: Tell = (operation, type, outcome, seconds) =>
    observer.onPlugin(name, operation, type, outcome, seconds);
  return {
    name,
    ...(plugin.isConfigured === true && { isConfigured: true }),
    sideEffects: plugin.sideEffects,
    handles: (request) => plugin.handles(request),
    ...(mutate && { mutate: measured(mutate, 'admit', tell) }),
    ...(beforeDelete && { beforeDelete: measured(beforeDelete, 'admit', tell) }),
    ...(validate && { validate: measured(validate, 'validate', tell) }),
  };
}

export function measuredChain(chain: AdmissionChain, observer: AdmissionObserver): AdmissionChain {
  const tell = observer.onStep.bind(observer);
  return {
    mutates: (request) => chain.mutates(request),
    mutate: measured(chain.mutate.bind(chain), 'admit', tell),
    beforeDelete: measured(chain.beforeDelete.bind(chain), 'admit', tell),
    validate: measured(chain.validate.bind(chain), 'validate', tell),
  };
}

type Call<Rest extends readonly unknown[], Answer> = (
  request: AdmissionRequest,
  ...rest: Rest
) => MaybePromise<Answer>;

function measured<Rest extends readonly unknown[], Answer>(
  call: Call<Rest, Answer>,
  type: AdmissionType,
  tell: Tell,
): Call<Rest, Answer> {
  const ended = (request: AdmissionRequest, outcome: AdmissionOutcome, fromMs: number): void =>
    tell(request.operation, type, outcome, (performance.now() - fromMs) / 1000);
  const late = async (
    answer: Promise<Answer>,
    request: AdmissionRequest,
    fromMs: number,
  ): Promise<Answer> => {
    let outcome: AdmissionOutcome = 'rejected';
    try {
      const value = await answer;
      outcome = 'admitted';
      return value;
    } finally {
      ended(request, outcome, fromMs);
    }
  };
  return (request, ...rest) => {
    const fromMs = performance.now();
    let answer: MaybePromise<Answer>;
    try {
      answer = call(request, ...rest);
    } catch (error) {
      ended(request, 'rejected', fromMs);
      throw error;
    }
    if (answer instanceof Promise) return late(answer, request, fromMs);
    ended(request, 'admitted', fromMs);
    return answer;
  };
}
