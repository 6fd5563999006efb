// Which writes a plugin looks at, as data: a write of another kind costs it a comparison of texts.
import type { AdmissionOperation, AdmissionRequest } from './plugin.ts';

interface Handled {
  /** As the server spells it; absent: the core group. */
  readonly group?: string;
  readonly resource: string;
  readonly operations: readonly AdmissionOperation[];
  /** Absent: the main resource alone. */
  readonly subresources?: readonly string[];
}

const mainAlone = [''];

function isHandled(request: AdmissionRequest, handled: Handled): boolean {
  const { group = '', resource, operations, subresources = mainAlone } = handled;
  return (
    request.resource.resource === resource &&
    request.resource.group === group &&
    operations.includes(request.operation) &&
    subresources.includes(request.subresource)
  );
}

/** The predicate of a plugin that looks at these, and at nothing else. */
export const handling =
  (...all: readonly Handled[]) =>
  (request: AdmissionRequest): boolean => {
    for (const handled of all) if (isHandled(request, handled)) return true;
    return false;
  };
