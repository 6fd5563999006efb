// Daemon sets: an annotation counts the versions of their pod template.
import { recordIn } from '../../api/json-access.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { jsonEqual } from '../../api/json-value.ts';
import { newRecord } from '../../api/record.ts';
import { metaOf } from '../../codec/object-meta.ts';
import type { ResourceStrategy } from '../strategy.ts';
import { fieldAnnotation, templateGeneration } from './field-annotations.ts';

export const daemonSetStrategy: ResourceStrategy = {
  prepare(object, stored) {
    const given = fieldAnnotation(object, templateGeneration) ?? 0n;
    const meta = metaOf(object);
    meta.annotations ??= newRecord() as Record<string, string>;
    const count = stored === undefined ? (given < 1n ? 1n : given) : nextCount(object, stored);
    meta.annotations[templateGeneration] = String(count);
  },
};

function nextCount(object: Readonly<ApiObject>, stored: Readonly<ApiObject>): bigint {
  const template = recordIn(object, 'spec', 'template');
  const isSame = jsonEqual(template, recordIn(stored, 'spec', 'template'));
  return (fieldAnnotation(stored, templateGeneration) ?? 0n) + (isSame ? 0n : 1n);
}
