// Checks of who containers run as.
import { numberAt, valueAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { contextOf, named, namesWhere, settersText, unlessOwnUsers } from './check.ts';
import type { Check, PodCheck } from './check.ts';

type Context = JsonObject | undefined;

const mayBeRoot: PodCheck = (pod) => {
  const nonRootOf = (context: Context): unknown => valueAt(context, 'runAsNonRoot');
  const ofPod = nonRootOf(contextOf(pod.spec));
  const setters = settersText(
    ofPod === false,
    namesWhere(pod, (context) => nonRootOf(context) === false),
  );
  const reason = 'runAsNonRoot != true';
  if (setters !== undefined) {
    return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  }
  if (ofPod === true) return undefined;
  const names = namesWhere(pod, (context) => nonRootOf(context) === undefined);
  if (names.length === 0) return undefined;
  const who = `pod or ${named('container', names)}`;
  return { reason, detail: `${who} must set securityContext.runAsNonRoot=true` };
};

const isRoot: PodCheck = (pod) => {
  const isZero = (context: Context): boolean => numberAt(context, 'runAsUser') === 0;
  const setters = settersText(isZero(contextOf(pod.spec)), namesWhere(pod, isZero));
  if (setters === undefined) return undefined;
  return { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` };
};

export const userChecks: readonly Check[] = [
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    versions: [
      { since: 0, check: mayBeRoot },
      { since: 35, check: unlessOwnUsers(mayBeRoot) },
    ],
  },
  {
    id: 'runAsUser',
    level: 'restricted',
    versions: [
      { since: 23, check: isRoot },
      { since: 35, check: unlessOwnUsers(isRoot) },
    ],
  },
];
