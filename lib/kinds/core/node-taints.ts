// Taints of nodes, in the spec and in the annotations that came before the field.
import type { FieldErrors } from '../../api/field-errors.ts';
import { asRecord, flagAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import { isObject } from '../../api/json-value.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../api/name-rules.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { ValidatedWrite } from '../validator.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTaints(
  taints: readonly JsonObject[],
  path: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [at, taint] of taints.entries()) {
    const where = `${path}[${String(at)}]`;
    const [key, value, effect] = [
      textAt(taint, 'key'),
      textAt(taint, 'value'),
      textAt(taint, 'effect'),
    ];
    errors.problems(`${where}.key`, key, qualifiedNameProblems(key));
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.invalid(`${where}.value`, value, problems.join(';'));
    if (effect === '') errors.required(`${where}.effect`);
    else if (!effects.includes(effect)) {
      errors.notListed(`${where}.effect`, effect, effects);
    }
    const identity = `${effect} ${key}`;
    if (seen.has(identity)) errors.duplicate(where, taint);
    seen.add(identity);
  }
}

const taintsKey = 'scheduler.alpha.{kubernetes}.io/taints';
const avoidedPodsKey = 'scheduler.alpha.{kubernetes}.io/preferAvoidPods';

/** Annotations that schedulers once read hold what they meant, as JSON. */
export function validateNodeAnnotations({ object, errors, naming }: ValidatedWrite): void {
  const annotations = recordIn(object, 'metadata', 'annotations');
  if (annotations === undefined) return;
  const path = 'metadata.annotations';
  const [taintsName, avoidedName] = [naming.resolve(taintsKey), naming.resolve(avoidedPodsKey)];
  if (textAt(annotations, taintsName) !== '') {
    const taints = parsedAnnotation(textAt(annotations, taintsName)) ?? [];
    if (!Array.isArray(taints)) errors.invalid(path, taintsName, 'must be a list of taints');
    else validateTaints(recordsOf(taints), `${path}.${taintsName}`, errors);
  }
  if (textAt(annotations, avoidedName) !== '') {
    const avoided = parsedAnnotation(textAt(annotations, avoidedName)) ?? {};
    if (!isObject(avoided)) errors.invalid(`${path}.AvoidPods`, avoidedName, 'must be an object');
    else validateAvoidedPods(avoided, `${path}.${avoidedName}`, errors);
  }
}

function validateAvoidedPods(avoided: JsonObject, path: string, errors: FieldErrors): void {
  for (const [at, entry] of recordsAt(avoided, 'preferAvoidPods').entries()) {
    const where = `${path}[${String(at)}].PodSignature`;
    const controller = recordIn(entry, 'podSignature', 'podController');
    if (controller === undefined) errors.required(where);
    else if (!flagAt(controller, 'controller')) {
      errors.invalid(`${where}.PodController.Controller`, false, 'must point to a controller');
    }
  }
}

const recordsOf = (list: readonly JsonValue[]): readonly JsonObject[] =>
  list.map((element) => asRecord(element) ?? {});

/** A text that is no JSON is taken for a text, which no annotation may hold. */
export function parsedAnnotation(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue; // whatever JSON holds
  } catch {
    return text;
  }
}
