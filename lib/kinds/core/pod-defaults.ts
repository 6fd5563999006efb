// Defaults of pods that depend on other fields. Those of core/v1.Pod hold for pods only, those of
// containers and volumes for every pod template too.
import { formatQuantity } from '../../api/quantity.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { ensureRecord, mirrorFirst } from '../../api/default-rule.ts';
import type { DefaultRule, DefaultRules } from '../../api/default-rule.ts';
import { isAbsent, isEmpty, isZero } from '../../api/presence.ts';
import { newRecord } from '../../api/record.ts';
import { ofProfile } from '../../api/vendor.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { isPodLevelResource, statedAmounts, totalOf } from './container-totals.ts';
import { imageTagOf } from './image-names.ts';
import { isHugePages } from './resource-names.ts';

const podLevelResources = 'PodLevelResources';

const annotations = ['metadata', 'annotations'];

const pod: DefaultRule = {
  version: 2,
  parts: [
    annotations,
    ['spec', 'containers'],
    ['spec', 'initContainers'],
    ['spec', 'resources'],
    ['spec', 'terminationGracePeriodSeconds'],
    ['spec', 'enableServiceLinks'],
    ['spec', 'hostNetwork'],
  ],
  gates: [podLevelResources],
  complete(object, { isOn, profile }) {
    dropInitAnnotations(object, profile);
    const spec = ensureRecord(object, 'spec');
    if ((numberAt(spec, 'terminationGracePeriodSeconds') ?? 0) < 0) {
      spec['terminationGracePeriodSeconds'] = 1;
    }
    const containers = [...recordsAt(spec, 'containers'), ...recordsAt(spec, 'initContainers')];
    for (const container of containers) requestLimits(container);
    if (isOn(podLevelResources)) completePodResources(spec);
    if (isAbsent(spec['enableServiceLinks'])) spec['enableServiceLinks'] = true;
    if (spec['hostNetwork'] !== true) return;
    for (const port of containers.flatMap((container) => recordsAt(container, 'ports'))) {
      if (isZero(port['hostPort']) && port['containerPort'] !== undefined) {
        port['hostPort'] = port['containerPort'];
      }
    }
  },
};

const template: DefaultRule = {
  version: 1,
  parts: [annotations],
  complete(object, { profile }) {
    dropInitAnnotations(object, profile);
  },
};

const initAnnotationsOf = ofProfile((profile) =>
  ['beta', 'alpha'].flatMap((stage) =>
    ['init-containers', 'init-container-statuses'].map((name) =>
      profile.resolve(`pod.${stage}.{kubernetes}.io/${name}`),
    ),
  ),
);

/** Init containers were annotations once: those would overrule the field on an old node. */
function dropInitAnnotations(object: JsonObject, profile: NamingProfile): void {
  const metadata = recordAt(object, 'metadata');
  const annotations = recordAt(metadata, 'annotations');
  if (metadata === undefined || annotations === undefined) return;
  for (const key of initAnnotationsOf(profile)) {
    if (!Object.hasOwn(annotations, key)) continue;
    Reflect.deleteProperty(annotations, key);
    if (isEmpty(annotations)) delete metadata['annotations'];
  }
}

/** The older name of `serviceAccountName` says what that says, or is taken for it. */
const podSpec: DefaultRule = {
  version: 1,
  parts: [['serviceAccountName'], ['serviceAccount']],
  complete(object) {
    const name = textAt(object, 'serviceAccountName') || textAt(object, 'serviceAccount');
    if (name === '') return;
    object['serviceAccountName'] = name;
    object['serviceAccount'] = name;
  },
};

const podStatus: DefaultRule = {
  version: 1,
  complete(object) {
    mirrorFirst(object, { single: 'podIP', list: 'podIPs', member: 'ip' });
  },
};

/** A limit without a request asks for as much as it allows. */
function requestLimits(container: JsonObject): void {
  const resources = recordAt(container, 'resources');
  const limits = recordAt(resources, 'limits');
  if (resources === undefined || limits === undefined) return;
  addMissing(ensureRecord(resources, 'requests'), limits);
}

function addMissing(target: JsonObject, source: JsonObject): void {
  for (const name of Object.keys(source)) target[name] ??= source[name];
}

/**
 * What a pod states for all its containers together is completed from what they state. Pages cannot
 * be promised twice: as many as the limit says are requested.
 */
function completePodResources(spec: JsonObject): void {
  const resources = recordAt(spec, 'resources');
  if (resources === undefined) return;
  const given = recordAt(resources, 'requests') ?? newRecord();
  const limits = recordAt(resources, 'limits') ?? newRecord();
  if (isEmpty(given) && isEmpty(limits)) return;
  for (const [name, amount] of Object.entries(containerTotals(spec, 'limits'))) {
    if (isHugePages(name) && given[name] === undefined) limits[name] ??= amount;
  }
  if (isEmpty(limits)) return;
  resources['limits'] = limits;
  const requests = Object.assign(newRecord(), given);
  const asked = supported(containerTotals(spec, 'requests'));
  for (const name of Object.keys(asked)) if (!isHugePages(name)) requests[name] ??= asked[name];
  addMissing(requests, supported(limits));
  if (!isEmpty(requests)) resources['requests'] = requests;
}

function supported(amounts: JsonObject): JsonObject {
  const kept = newRecord();
  for (const name of Object.keys(amounts)) if (isPodLevelResource(name)) kept[name] = amounts[name];
  return kept;
}

/** What runs at once, as canonical texts. */
export function containerTotals(spec: JsonObject, part: 'limits' | 'requests'): JsonObject {
  const totals = newRecord();
  for (const [name, amount] of totalOf(spec, (one) => statedAmounts(one, part))) {
    totals[name] = formatQuantity(amount);
  }
  return totals;
}

const container: DefaultRule = {
  version: 2,
  complete(object) {
    if (isZero(object['imagePullPolicy'])) {
      object['imagePullPolicy'] = pullPolicyOf(textAt(object, 'image'));
    }
  },
};

/** What moves is pulled always: the tag `latest`, which an image without tag and digest means. */
const pullPolicyOf = (image: string): 'Always' | 'IfNotPresent' =>
  imageTagOf(image) === 'latest' ? 'Always' : 'IfNotPresent';

const volume: DefaultRule = {
  version: 1,
  complete(object) {
    for (const name of Object.keys(object)) {
      if (name !== 'name' && !isAbsent(object[name])) return;
    }
    object['emptyDir'] = newRecord();
  },
};

const imageVolume: DefaultRule = {
  version: 2,
  gates: ['ImageVolume'],
  complete(object, { isOn }) {
    if (isOn('ImageVolume') && isZero(object['pullPolicy'])) {
      object['pullPolicy'] = pullPolicyOf(textAt(object, 'reference'));
    }
  },
};

export const podDefaults: DefaultRules = {
  'core/v1.Pod': pod,
  'core/v1.PodSpec': podSpec,
  'core/v1.PodStatus': podStatus,
  'core/v1.PodTemplateSpec': template,
  'core/v1.Container': container,
  'core/v1.EphemeralContainerCommon': container,
  'core/v1.Volume': volume,
  'core/v1.ImageVolumeSource': imageVolume,
};
