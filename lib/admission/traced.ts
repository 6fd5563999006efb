// The chain with a span for each of its phases, and what spans of admission say of a request.
import type { SpanAttributes, Tracing } from '../telemetry/tracing.ts';
import type { AdmissionChain } from './chain.ts';
import type { AdmissionRequest } from './plugin.ts';

export function tracedChain(chain: AdmissionChain, tracing: Tracing): AdmissionChain {
  const [mutating, validating] = ['mutating admission', 'validating admission'] as const;
  return {
    mutates: (request) => chain.mutates(request),
    mutate: (request, object, signal) =>
      tracing.within(
        mutating,
        () => spanAttributes(request),
        () => chain.mutate(request, object, signal),
      ),
    beforeDelete: (request, signal) =>
      tracing.within(
        mutating,
        () => spanAttributes(request),
        () => chain.beforeDelete(request, signal),
      ),
    validate: (request, object, signal) =>
      tracing.within(
        validating,
        () => spanAttributes(request),
        () => chain.validate(request, object, signal),
      ),
  };
}

/** In the words of kube-apiserver. */
export function spanAttributes({
  resource: { group, version, resource },
  subresource,
  operation,
}: AdmissionRequest): SpanAttributes {
  return { resource: `${group}/${version}, Resource=${resource}`, subresource, operation };
}
