// Workloads of the first versions: two fields that the stable ones do not have travel in
// annotations, as Kubernetes keeps them.
import { without } from '../../api/json-value.ts';
import { annotated, annotationOf } from '../../api/convert-fields.ts';
import type { Conversion, Conversions } from '../../api/convert-fields.ts';
import { numberAt, recordAt } from '../../api/json-access.ts';
import { rollbackRevision, templateGeneration } from './field-annotations.ts';

export const deploymentFieldAnnotations = (): readonly string[] => [rollbackRevision];
export const daemonSetFieldAnnotations = (): readonly string[] => [templateGeneration];

const wholeNumber = /^-?\d{1,15}$/;

const deploymentToStable: Conversion = (object) => {
  const spec = recordAt(object, 'spec');
  const rollback = recordAt(spec, 'rollbackTo');
  if (spec === undefined || rollback === undefined) return { ...object };
  const revision = String(numberAt(rollback, 'revision') ?? 0);
  const changed = annotated(object, { [rollbackRevision]: revision });
  return { ...changed, spec: without(spec, 'rollbackTo') };
};

const deploymentFromStable: Conversion = (object) => {
  const text = annotationOf(object, rollbackRevision);
  if (text === undefined || !wholeNumber.test(text)) return { ...object };
  const changed = annotated(object, { [rollbackRevision]: undefined });
  const rollbackTo = { revision: Number(text) };
  return { ...changed, spec: { ...recordAt(object, 'spec'), rollbackTo } };
};

const daemonSetToStable: Conversion = (object) => {
  const spec = recordAt(object, 'spec');
  const generation = numberAt(spec, 'templateGeneration');
  if (spec === undefined || generation === undefined) return { ...object };
  const changed = annotated(object, { [templateGeneration]: String(generation) });
  return { ...changed, spec: without(spec, 'templateGeneration') };
};

const daemonSetFromStable: Conversion = (object) => {
  const text = annotationOf(object, templateGeneration);
  if (text === undefined || !wholeNumber.test(text)) return { ...object };
  const changed = annotated(object, { [templateGeneration]: undefined });
  return { ...changed, spec: { ...recordAt(object, 'spec'), templateGeneration: Number(text) } };
};

export const deploymentConversions: Conversions = {
  'apps/v1beta1.Deployment > apps/v1.Deployment': deploymentToStable,
  'apps/v1.Deployment > apps/v1beta1.Deployment': deploymentFromStable,
  'extensions/v1beta1.Deployment > apps/v1.Deployment': deploymentToStable,
  'apps/v1.Deployment > extensions/v1beta1.Deployment': deploymentFromStable,
};

export const daemonSetConversions: Conversions = {
  'extensions/v1beta1.DaemonSet > apps/v1.DaemonSet': daemonSetToStable,
  'apps/v1.DaemonSet > extensions/v1beta1.DaemonSet': daemonSetFromStable,
};
