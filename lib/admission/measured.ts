// Admission whose plugins and steps tell how long each took, and whether it refused.
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { AdmissionChain } from './chain.ts';
import type { AdmissionOperation, AdmissionPlugin } from './plugin.ts';

/** What was measured. */
export interface AdmissionStep {
  readonly operation: AdmissionOperation;
  readonly type: 'admit' | 'validate';
  readonly isRejected: boolean;
}

export interface AdmissionObserver {
  onPlugin(name: string, step: AdmissionStep, seconds: number): void;
  /** All plugins of a type, for one write. */
  onStep(step: AdmissionStep, seconds: number): void;
}

export function measuredPlugin(
  plugin: AdmissionPlugin,
  observer: AdmissionObserver,
): AdmissionPlugin {
  const { name } = plugin;
  const mutate = plugin.mutate?.bind(plugin);
  const validate = plugin.validate?.bind(plugin);
  const onPlugin = (step: AdmissionStep, seconds: number): void =>
    observer.onPlugin(name, step, seconds);
  return {
    name,
    sideEffects: plugin.sideEffects,
    handles: (request) => plugin.handles(request),
    ...(mutate && {
      mutate: (request, object, signal) =>
        timed(() => mutate(request, object, signal), ended(request.operation, 'admit', onPlugin)),
    }),
    ...(validate && {
      validate: (request, object, signal) =>
        timed(
          () => validate(request, object, signal),
          ended(request.operation, 'validate', onPlugin),
        ),
    }),
  };
}

export function measuredChain(chain: AdmissionChain, observer: AdmissionObserver): AdmissionChain {
  const onStep = (step: AdmissionStep, seconds: number): void => observer.onStep(step, seconds);
  return {
    mutate: (request, object, signal) =>
      timed(() => chain.mutate(request, object, signal), ended(request.operation, 'admit', onStep)),
    validate: (request, object, signal) =>
      timed(
        () => chain.validate(request, object, signal),
        ended(request.operation, 'validate', onStep),
      ),
  };
}

type Ended = (isRejected: boolean) => void;

function ended(
  operation: AdmissionOperation,
  type: AdmissionStep['type'],
  observe: (step: AdmissionStep, seconds: number) => void,
): Ended {
  const fromMs = performance.now();
  return (isRejected) =>
    observe({ operation, type, isRejected }, (performance.now() - fromMs) / 1000);
}

function timed<T>(run: () => MaybePromise<T>, whenEnded: Ended): MaybePromise<T> {
  let answer: MaybePromise<T>;
  try {
    answer = run();
  } catch (error) {
    whenEnded(true);
    throw error;
  }
  if (answer instanceof Promise) return late(answer, whenEnded);
  whenEnded(false);
  return answer;
}

async function late<T>(answer: Promise<T>, whenEnded: Ended): Promise<T> {
  let isRejected = true;
  try {
    const value = await answer;
    isRejected = false;
    return value;
  } finally {
    whenEnded(isRejected);
  }
}
