// Namespaces: a phase, a finalizer of their own in spec, and a label with their name. `finalize`
// alone changes spec.finalizers; a namespace goes when its deletion has begun and they are empty.
import { recordAt, textsAt } from '../../api/json-access.ts';
import { newRecord } from '../../api/record.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { metaOf, nameOf } from '../../codec/object-meta.ts';
import type { ResourceStrategy } from '../strategy.ts';

export function namespaceStrategy(naming: NamingProfile): ResourceStrategy {
  return {
    prepare(object, old, { subresource }) {
      if (old === undefined) {
        object.status = recordOf({ phase: 'Active' });
        const given = finalizersOf(object);
        const own = naming.namespaceFinalizer;
        setFinalizers(object, given.includes(own) ? given : [...given, own]);
      } else if (subresource === '') {
        setFinalizers(object, finalizersOf(old));
      }
      const meta = metaOf(object);
      meta.labels ??= newRecord() as Record<string, string>;
      meta.labels[naming.namespaceNameLabel] = nameOf(object);
    },
    isHeld: (object) => finalizersOf(object).length > 0,
    beginDeletion(object) {
      const status = recordAt(object, 'status') ?? recordOf({});
      status['phase'] = 'Terminating';
      object.status = status;
    },
  };
}

/** `spec.finalizers`. */
export const finalizersOf = (object: Readonly<ApiObject>): readonly string[] =>
  textsAt(recordAt(object, 'spec'), 'finalizers');

function setFinalizers(object: ApiObject, finalizers: readonly string[]): void {
  const spec = recordAt(object, 'spec') ?? recordOf({});
  if (finalizers.length === 0) delete spec['finalizers'];
  else spec['finalizers'] = [...finalizers];
  object.spec = spec;
}

const recordOf = (members: JsonObject): JsonObject => Object.assign(newRecord(), members);
