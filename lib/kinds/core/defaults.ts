// Defaults of the core group's other kinds that depend on other fields.
import type { JsonObject } from '../../api/type-info.ts';
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import {
  ensureRecord,
  fillUnset,
  labelLikeTemplate,
  mirrorFirst,
  templateLabels,
} from '../../api/default-rule.ts';
import type { DefaultRule, DefaultRules } from '../../api/default-rule.ts';
import { isAbsent, isEmpty, isZero } from '../../api/presence.ts';
import { cloneJson } from '../../api/json-value.ts';
import { newRecord } from '../../api/record.ts';

const clientAffinitySeconds = 10_800;

const service: DefaultRule = {
  version: 2,
  complete(object) {
    const spec = ensureRecord(object, 'spec');
    const type = textAt(spec, 'type');
    completeAffinity(spec);
    for (const port of recordsAt(spec, 'ports')) {
      if (isZero(port['targetPort']) && port['port'] !== undefined) {
        port['targetPort'] = port['port'];
      }
    }
    const isLoadBalancer = type === 'LoadBalancer';
    const isExternal =
      isLoadBalancer ||
      type === 'NodePort' ||
      (type === 'ClusterIP' && !isZero(spec['externalIPs']));
    if (isExternal && isZero(spec['externalTrafficPolicy'])) {
      spec['externalTrafficPolicy'] = 'Cluster';
    }
    if (isLoadBalancer || type === 'NodePort' || type === 'ClusterIP') {
      fillUnset(spec, { internalTrafficPolicy: 'Cluster' });
    }
    // Nothing within the cluster leads to a name outside it.
    const policy = textAt(spec, 'internalTrafficPolicy');
    if (type === 'ExternalName' && ['Cluster', 'Local'].includes(policy)) {
      delete spec['internalTrafficPolicy'];
    }
    if (!isLoadBalancer) return;
    fillUnset(spec, { allocateLoadBalancerNodePorts: true });
    const balancer = recordAt(recordAt(object, 'status'), 'loadBalancer');
    for (const ingress of recordsAt(balancer, 'ingress')) {
      if (!isZero(ingress['ip'])) fillUnset(ingress, { ipMode: 'VIP' });
    }
  },
};

function completeAffinity(spec: JsonObject): void {
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  if (spec['sessionAffinity'] !== 'ClientIP') return;
  const clientIp = ensureRecord(ensureRecord(spec, 'sessionAffinityConfig'), 'clientIP');
  fillUnset(clientIp, { timeoutSeconds: clientAffinitySeconds });
}

const namespace: DefaultRule = {
  version: 1,
  complete(object, { profile }) {
    const name = textAt(recordAt(object, 'metadata'), 'name');
    if (name === '') return;
    ensureRecord(ensureRecord(object, 'metadata'), 'labels')[profile.namespaceNameLabel] = name;
  },
};

const nodeSpec: DefaultRule = {
  version: 1,
  complete(object) {
    mirrorFirst(object, { single: 'podCIDR', list: 'podCIDRs' });
  },
};

const nodeStatus: DefaultRule = {
  version: 1,
  complete(object) {
    const capacity = recordAt(object, 'capacity');
    if (capacity === undefined || !isAbsent(object['allocatable'])) return;
    object['allocatable'] = cloneJson(capacity);
  },
};

const limitRangeItem: DefaultRule = {
  version: 1,
  complete(object) {
    if (object['type'] !== 'Container') return;
    const limits = recordAt(object, 'default') ?? newRecord();
    const requests = recordAt(object, 'defaultRequest') ?? newRecord();
    addMissing(limits, recordAt(object, 'max'));
    addMissing(requests, limits);
    addMissing(requests, recordAt(object, 'min'));
    if (!isEmpty(limits)) object['default'] = limits;
    if (!isEmpty(requests)) object['defaultRequest'] = requests;
  },
};

function addMissing(target: JsonObject, source: JsonObject | undefined): void {
  if (source === undefined) return;
  for (const name of Object.keys(source)) target[name] ??= source[name];
}

const replicationController: DefaultRule = {
  version: 1,
  complete(object) {
    const labels = templateLabels(object);
    if (labels === undefined) return;
    const spec = ensureRecord(object, 'spec');
    if (isZero(spec['selector'])) spec['selector'] = labels;
    labelLikeTemplate(object);
  },
};

/** Of the object: the spec that an attachment has inline is left as it is. */
const persistentVolume: DefaultRule = {
  version: 1,
  complete(object) {
    const spec = ensureRecord(object, 'spec');
    if (isZero(spec['persistentVolumeReclaimPolicy'])) {
      spec['persistentVolumeReclaimPolicy'] = 'Retain';
    }
    fillUnset(spec, { volumeMode: 'Filesystem' });
  },
};

export const persistentVolumeDefaults: DefaultRules = {
  'core/v1.PersistentVolume': persistentVolume,
};

export const serviceDefaults: DefaultRules = {
  'core/v1.Service': service,
};

export const namespaceDefaults: DefaultRules = {
  'core/v1.Namespace': namespace,
};

export const nodeDefaults: DefaultRules = {
  'core/v1.NodeSpec': nodeSpec,
  'core/v1.NodeStatus': nodeStatus,
};

export const limitRangeDefaults: DefaultRules = {
  'core/v1.LimitRangeItem': limitRangeItem,
};

export const replicationControllerDefaults: DefaultRules = {
  'core/v1.ReplicationController': replicationController,
};
