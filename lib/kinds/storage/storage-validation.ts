// Storage classes, drivers and attachments: sizes of parameters, topologies, what stays.
import { entriesAt, isSet, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../api/name-rules.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { mapBytes } from '../validator.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

const parameterBytesMax = 262_144;

function validateParameters({ object, errors }: ValidatedWrite): void {
  if (mapBytes(object, 'parameters') > parameterBytesMax) {
    errors.tooLong('parameters', parameterBytesMax);
  }
  for (const [key] of entriesAt(object, 'parameters')) {
    if (key === '') errors.invalid('parameters', key, 'field can not be empty.');
  }
}

export const validateStorageClass: Validator = (write) => {
  const { object, errors } = write;
  validateParameters(write);
  const terms = recordsAt(object, 'allowedTopologies');
  for (const [at, term] of terms.entries()) {
    const path = `allowedTopologies[${String(at)}]`;
    if (terms.slice(0, at).some((one) => sameJson(one, term))) errors.duplicate(path, '');
    const keys = new Set<string>();
    for (const [index, one] of recordsAt(term, 'matchLabelExpressions').entries()) {
      const where = `${path}.matchLabelExpressions[${String(index)}]`;
      const key = textAt(one, 'key');
      errors.problems(`${where}.key`, key, qualifiedNameProblems(key));
      if (keys.has(key)) errors.duplicate(`${where}.key`, key);
      keys.add(key);
      const values = textsAt(one, 'values');
      if (values.length === 0) errors.required(`${where}.values`);
      for (const [place, value] of values.entries()) {
        const spot = `${where}.values[${String(place)}]`;
        errors.problems(spot, value, labelValueProblems(value));
        if (values.indexOf(value) < place) errors.duplicate(spot, value);
      }
    }
  }
};

export const validateAttributesClass: Validator = validateParameters;

export const validateCsiNode: Validator = ({ object, old, errors }) => {
  const now = recordsAt(recordAt(object, 'spec'), 'drivers');
  for (const driver of recordsAt(recordAt(old, 'spec'), 'drivers')) {
    const name = textAt(driver, 'name');
    const at = now.findIndex((one) => textAt(one, 'name') === name);
    const same = now[at];
    if (same === undefined) continue;
    if (['nodeID', 'topologyKeys'].every((key) => sameJson(driver[key], same[key]))) continue;
    errors.invalid(`spec.drivers[${String(at)}]`, same, 'field is immutable');
  }
};

export const validateAttachment: Validator = ({ object, old, errors }) => {
  const status = recordAt(object, 'status');
  if (mapBytes(status, 'attachmentMetadata') > parameterBytesMax) {
    errors.tooLong('status.attachmentMetadata', parameterBytesMax);
  }
  if (old !== undefined) return;
  const inline = recordAt(recordAt(recordAt(object, 'spec'), 'source'), 'inlineVolumeSpec');
  if (inline === undefined || isSet(inline, 'csi')) return;
  const path = 'spec.source.inlineVolumeSpec.csi';
  errors.required(path, 'inline volumes of attachments must be of a CSI driver');
};

export const validateStorageCapacity: Validator = ({ object, errors }) => {
  validateLabelSelector(recordAt(object, 'nodeTopology'), 'nodeTopology', errors);
};
