// Runtime classes: overhead, and where pods of the class may run.
import { recordAt, recordsAt } from '../../api/json-access.ts';
import { validateTolerations, validateUniqueTolerations } from '../core/pod-scheduling.ts';
import { validateResourceList } from '../core/resource-lists.ts';
import { validateLabels } from '../validator.ts';
import type { Validator } from '../validator.ts';

export const validateRuntimeClass: Validator = (write) => {
  const { object, errors } = write;
  validateResourceList(recordAt(object, 'overhead'), 'podFixed', 'overhead', write);
  const scheduling = recordAt(object, 'scheduling');
  validateLabels(recordAt(scheduling, 'nodeSelector'), 'scheduling.nodeSelector', errors);
  const tolerations = recordsAt(scheduling, 'tolerations');
  validateTolerations(tolerations, 'scheduling.tolerations', write);
  validateUniqueTolerations(tolerations, 'scheduling.tolerations', errors);
};
