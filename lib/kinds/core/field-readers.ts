// Selectable fields of pods and events that are not simply what stands at their path.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { FieldReader } from '../../api/type-info.ts';

export const podReaders: Readonly<Record<string, FieldReader>> = {
  'status.podIP': (pod) => {
    const status = recordAt(pod, 'status');
    const [first] = recordsAt(status, 'podIPs');
    return textAt(first, 'ip') || textAt(status, 'podIP');
  },
};

export const eventReaders: Readonly<Record<string, FieldReader>> = {
  source: (event) =>
    textAt(recordAt(event, 'source'), 'component') || textAt(event, 'reportingComponent'),
};
