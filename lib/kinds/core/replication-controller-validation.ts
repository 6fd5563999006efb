// Replication controllers: a selector of labels that the template carries, and counts that fit.
import { entriesAt, recordAt } from '../../api/json-access.ts';
import type { Validator } from '../validator.ts';
import { validateLabels } from '../validator.ts';
import { validateCounts } from '../apps/status-counts.ts';
import { validatePodTemplate, validateRunningTemplate } from './pod-spec.ts';

export const validateReplicationController: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  validateLabels(recordAt(spec, 'selector'), 'spec.selector', errors);
  const labels = recordAt(recordAt(recordAt(spec, 'template'), 'metadata'), 'labels');
  const isMissing = entriesAt(spec, 'selector').some(([key, value]) => labels?.[key] !== value);
  if (isMissing && recordAt(spec, 'template') !== undefined) {
    const detail = '`selector` does not match template `labels`';
    errors.invalid('spec.template.metadata.labels', labels ?? null, detail);
  }
  validateRunningTemplate(spec, 'spec', write);
  validateCounts(write, 'replicas', ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']);
};

export const validatePodTemplateObject: Validator = (write) => {
  const template = recordAt(write.object, 'template');
  if (template !== undefined) validatePodTemplate(template, 'template', write);
};
