// Autoscalers: annotations that stand for fields in older versions are none of the newest one's.
import type { NamingProfile } from '../../api/vendor.ts';
import { metaOf } from '../../codec/object-meta.ts';
import type { ResourceStrategy } from '../strategy.ts';
import { autoscalerFieldAnnotations } from './conversion.ts';

export function autoscalerStrategy(naming: NamingProfile): ResourceStrategy {
  const names = autoscalerFieldAnnotations(naming);
  return {
    prepare(object) {
      const { annotations } = metaOf(object);
      if (annotations === undefined) return;
      for (const name of names) Reflect.deleteProperty(annotations, name);
    },
  };
}
