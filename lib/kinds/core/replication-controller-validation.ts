// Replication controllers: a selector of labels that the template carries, and counts that fit.
import { entriesAt, recordAt, recordIn } from '../../api/json-access.ts';
import type { Validator } from '../validator.ts';
import { validateCounts } from '../apps/status-counts.ts';
import { validatePodTemplate, validateRunningPods } from './pod-spec.ts';

export const validateReplicationController: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const template = recordAt(spec, 'template');
  if (template !== undefined) {
    const labels = recordIn(template, 'metadata', 'labels');
    const isMissing = entriesAt(spec, 'selector').some(([key, value]) => labels?.[key] !== value);
    if (isMissing) {
      const detail = '`selector` does not match template `labels`';
      errors.invalid('spec.template.metadata.labels', labels ?? null, detail);
    }
    validatePodTemplate(template, 'spec.template', write);
    validateRunningPods(template, 'spec.template', 'ReplicationController', write);
  }
  validateCounts(write, 'replicas', ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']);
};

export const validatePodTemplateObject: Validator = (write) => {
  const template = recordAt(write.object, 'template');
  if (template !== undefined) validatePodTemplate(template, 'template', write);
};
