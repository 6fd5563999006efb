// Stateful sets: pods get a volume for each claim template, before those of the pod template and in
// place of those of the same name. The rules of the template look at all of them.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ResourceStrategy } from '../strategy.ts';

export const statefulSetStrategy: ResourceStrategy = {
  asValidated(object) {
    const spec = recordAt(object, 'spec');
    const template = recordAt(spec, 'template');
    const pod = recordAt(template, 'spec');
    const claims = recordsAt(spec, 'volumeClaimTemplates');
    if (pod === undefined || claims.length === 0) return object;
    const claimed = new Map(
      claims.map((claim) => {
        const name = textAt(recordAt(claim, 'metadata'), 'name');
        return [name, { name, persistentVolumeClaim: { claimName: name } }] as const;
      }),
    );
    const own = recordsAt(pod, 'volumes').filter((one) => !claimed.has(textAt(one, 'name')));
    const volumes: JsonObject[] = [...claimed.values(), ...own];
    return { ...object, spec: { ...spec, template: { ...template, spec: { ...pod, volumes } } } };
  },
};
