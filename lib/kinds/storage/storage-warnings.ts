// What is valid in objects of storage, and yet unwise: labels of nodes that have another name now,
// and tokens where they may be logged.
import { isSet, listAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { deprecatedLabelText, expressionWarnings, labelWarnings } from '../core/node-labels.ts';
import type { Warnings } from '../validator.ts';

export const storageClassWarnings: Warnings = ({ object, naming }) =>
  recordsAt(object, 'allowedTopologies').flatMap((term, at) =>
    recordsAt(term, 'matchLabelExpressions').flatMap((one, index) => {
      const text = deprecatedLabelText(textAt(one, 'key'), naming);
      const path = `allowedTopologies[${String(at)}].matchLabelExpressions[${String(index)}].key`;
      return text === undefined ? [] : [`${path}: ${text}`];
    }),
  );

export const storageCapacityWarnings: Warnings = ({ object, naming }) => {
  const selector = recordAt(object, 'nodeTopology');
  return [
    ...expressionWarnings(selector, 'nodeTopology', naming),
    ...labelWarnings(selector, 'nodeTopology', naming),
  ];
};

export const driverWarnings: Warnings = ({ object, old }) => {
  const [spec, before] = [recordAt(object, 'spec'), recordAt(old, 'spec')];
  if (listAt(spec, 'tokenRequests').length === 0) return [];
  if (isSet(spec, 'serviceAccountTokenInSecrets')) return [];
  if (old !== undefined && sameJson(spec?.['tokenRequests'], before?.['tokenRequests'])) return [];
  return [
    'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to ' +
      'prevent possible logging of tokens in volume attributes',
  ];
};
