// Runtime classes: the first version holds everything one level deeper.
import { without } from '../../api/json-value.ts';
import { renamed } from '../../api/convert-fields.ts';
import type { Conversion, Conversions } from '../../api/convert-fields.ts';
import { recordAt } from '../../api/json-access.ts';

const runtimeClassToStable: Conversion = (object) => ({
  ...without(object, 'spec'),
  ...renamed(recordAt(object, 'spec') ?? {}, { runtimeHandler: 'handler' }),
});

const runtimeClassFromStable: Conversion = (object) => {
  const { handler, overhead, scheduling, ...rest } = object;
  const spec = { runtimeHandler: handler, overhead, scheduling };
  return {
    ...rest,
    spec: Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)),
  };
};

export const runtimeClassConversions: Conversions = {
  'node/v1alpha1.RuntimeClass > node/v1.RuntimeClass': runtimeClassToStable,
  'node/v1.RuntimeClass > node/v1alpha1.RuntimeClass': runtimeClassFromStable,
};
