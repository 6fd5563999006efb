// Runtime classes: overhead, and where pods of the class may run.
import { recordAt, recordIn, recordsAt } from '../../api/json-access.ts';
import { validateOverhead } from '../core/container-resources.ts';
import { deprecatedLabelText } from '../core/node-labels.ts';
import { validateTolerations, validateUniqueTolerations } from '../core/pod-scheduling.ts';
import { validateLabels } from '../validator.ts';
import type { Validator, Warnings } from '../validator.ts';

export const validateRuntimeClass: Validator = (write) => {
  const { object, errors } = write;
  validateOverhead(recordIn(object, 'overhead', 'podFixed'), 'overhead', write);
  const scheduling = recordAt(object, 'scheduling');
  validateLabels(recordAt(scheduling, 'nodeSelector'), 'scheduling.nodeSelector', errors);
  const tolerations = recordsAt(scheduling, 'tolerations');
  validateTolerations(tolerations, 'scheduling.tolerations', write);
  validateUniqueTolerations(tolerations, 'scheduling.tolerations', errors);
};

export const runtimeClassWarnings: Warnings = ({ object, naming }) => {
  const labels = recordIn(object, 'scheduling', 'nodeSelector') ?? {};
  return Object.keys(labels).flatMap((label) => {
    const text = deprecatedLabelText(label, naming);
    return text === undefined ? [] : [`scheduling.nodeSelector: ${text}`];
  });
};
