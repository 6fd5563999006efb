// What is valid in a pod or in a template for pods, and yet unwise: each part of it has a file of
// its own. Pods are warned of when they are created, templates when their kind's generation moves.
import { listedIpWarnings } from '../../api/address-formats.ts';
import { childPath } from '../../api/field-errors.ts';
import { recordAt, recordIn, recordsAt } from '../../api/json-access.ts';
import { joinedWarnings, podNameWarnings } from '../host-name-warnings.ts';
import { isNewGeneration } from '../validator.ts';
import type { Warnings } from '../validator.ts';
import { podSpecWarnings } from './pod-spec-warnings.ts';
import type { PodLike } from './pod-spec-warnings.ts';
import { volumeWarnings } from './volume-warnings.ts';

function warningsOf(pod: PodLike): readonly string[] {
  const path = childPath(pod.path, 'spec');
  const annotationsPath = childPath(pod.path, 'metadata.annotations');
  return [...podSpecWarnings(pod, path, annotationsPath), ...volumeWarnings(pod.spec, path)];
}

export const podWarnings = joinedWarnings(podNameWarnings, ({ object, old, naming }) => {
  if (old !== undefined) return [];
  const meta = recordAt(object, 'metadata');
  return warningsOf({ meta, spec: recordAt(object, 'spec') ?? {}, path: '', naming });
});

const addressLists = ['podIPs', 'hostIPs'];

export const podStatusWarnings: Warnings = ({ object }) =>
  addressLists.flatMap((list) =>
    listedIpWarnings(recordsAt(recordAt(object, 'status'), list), `status.${list}`),
  );

/** `path`: where kinds of one sort have their template. */
export function templateWarnings(path: string): Warnings {
  const names = path.split('.');
  return (write) => {
    const template = isNewGeneration(write) ? recordIn(write.object, ...names) : undefined;
    if (template === undefined) return [];
    const meta = recordAt(template, 'metadata');
    const spec = recordAt(template, 'spec') ?? {};
    return warningsOf({ meta, spec, path, naming: write.naming });
  };
}
