// Defaults of workloads that depend on other fields. Older versions select and label by the pod
// template and differ in how they update.
import type { JsonValue } from '../../api/type-info.ts';
import { recordAt } from '../../api/json-access.ts';
import {
  ensureRecord,
  fillUnset,
  labelLikeTemplate,
  selectTemplate,
} from '../../api/default-rule.ts';
import type { DefaultRule, DefaultRules } from '../../api/default-rule.ts';
import { isZero } from '../../api/presence.ts';

/** Parts of a rolling update that are not given. */
const rollingUpdate = (values: Readonly<Record<string, JsonValue>>): DefaultRule => ({
  version: 1,
  complete(strategy) {
    if (strategy['type'] !== 'RollingUpdate') return;
    fillUnset(ensureRecord(strategy, 'rollingUpdate'), values);
  },
});

const maxUnavailableGate = 'MaxUnavailableStatefulSet';

/** A strategy that is not given at all gets its parameters too. */
const statefulSetStrategy: DefaultRule = {
  version: 1,
  gates: [maxUnavailableGate],
  complete(strategy, { isOn }) {
    if (isZero(strategy['type'])) {
      strategy['type'] = 'RollingUpdate';
      ensureRecord(strategy, 'rollingUpdate');
    }
    const parameters = recordAt(strategy, 'rollingUpdate');
    if (strategy['type'] !== 'RollingUpdate' || parameters === undefined) return;
    fillUnset(parameters, { partition: 0 });
    if (isOn(maxUnavailableGate)) fillUnset(parameters, { maxUnavailable: 1 });
  },
};

/** Versions say so in the stored form whatever the version of the request. */
const statefulSet: DefaultRule = {
  version: 1,
  complete(object) {
    const claims = recordAt(object, 'spec')?.['volumeClaimTemplates'];
    if (!Array.isArray(claims)) return;
    for (const claim of claims) {
      if (typeof claim !== 'object' || claim === null || Array.isArray(claim)) continue;
      claim['kind'] = 'PersistentVolumeClaim';
      claim['apiVersion'] = 'v1';
    }
  },
};

const likeTemplate: DefaultRule = {
  version: 1,
  complete(object) {
    selectTemplate(object);
    labelLikeTemplate(object);
  },
};

const statefulSetLikeTemplate: DefaultRule = {
  version: 1,
  complete(object, context) {
    statefulSet.complete(object, context);
    likeTemplate.complete(object, context);
  },
};

const quarter = rollingUpdate({ maxUnavailable: '25%', maxSurge: '25%' });
const oneByOne = rollingUpdate({ maxUnavailable: 1, maxSurge: 0 });

/** Where pods are replaced when they are deleted, a number that is not given is none. */
const oneByOneOrNone: DefaultRule = {
  version: 2,
  complete(strategy, context) {
    oneByOne.complete(strategy, context);
    const parameters = recordAt(strategy, 'rollingUpdate');
    if (parameters !== undefined) fillUnset(parameters, { maxUnavailable: 0, maxSurge: 0 });
  },
};

export const deploymentDefaults: DefaultRules = {
  'apps/v1.DeploymentStrategy': quarter,
  'apps/v1beta2.DeploymentStrategy': quarter,
  'apps/v1beta1.Deployment': likeTemplate,
  'apps/v1beta1.DeploymentStrategy': quarter,
  'extensions/v1beta1.Deployment': likeTemplate,
  'extensions/v1beta1.DeploymentStrategy': rollingUpdate({ maxUnavailable: 1, maxSurge: 1 }),
};

export const daemonSetDefaults: DefaultRules = {
  'apps/v1.DaemonSetUpdateStrategy': oneByOneOrNone,
  'apps/v1beta2.DaemonSetUpdateStrategy': oneByOneOrNone,
  'extensions/v1beta1.DaemonSet': likeTemplate,
  'extensions/v1beta1.DaemonSetUpdateStrategy': oneByOneOrNone,
};

export const statefulSetDefaults: DefaultRules = {
  'apps/v1.StatefulSet': statefulSet,
  'apps/v1.StatefulSetUpdateStrategy': statefulSetStrategy,
  'apps/v1beta2.StatefulSet': statefulSet,
  'apps/v1beta2.StatefulSetUpdateStrategy': statefulSetStrategy,
  'apps/v1beta1.StatefulSet': statefulSetLikeTemplate,
  'apps/v1beta1.StatefulSetUpdateStrategy': statefulSetStrategy,
};

export const replicaSetDefaults: DefaultRules = {
  'extensions/v1beta1.ReplicaSet': likeTemplate,
};
