// Daemon sets: an annotation counts the versions of their pod template.
import { recordAt, recordIn, textAt } from '../../api/json-access.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { jsonEqual } from '../../api/json-value.ts';
import { metaOf } from '../../codec/object-meta.ts';
import type { ResourceStrategy } from '../strategy.ts';

const countAnnotation = 'deprecated.daemonset.template.generation';

export const daemonSetStrategy: ResourceStrategy = {
  prepare(object, stored) {
    const meta = metaOf(object);
    meta.annotations ??= Object.create(null) as Record<string, string>;
    meta.annotations[countAnnotation] = String(
      stored === undefined ? Math.max(countOf(object), 1) : nextCount(object, stored),
    );
  },
};

function nextCount(object: Readonly<ApiObject>, stored: Readonly<ApiObject>): number {
  const template = recordIn(object, 'spec', 'template');
  const isSame = jsonEqual(template, recordIn(stored, 'spec', 'template'));
  return countOf(stored) + (isSame ? 0 : 1);
}

function countOf(object: Readonly<ApiObject>): number {
  const text = textAt(recordAt(object.metadata, 'annotations'), countAnnotation);
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
