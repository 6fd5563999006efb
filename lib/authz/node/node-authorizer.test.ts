// Decisions of the node authorizer, with the texts that a refused node reads.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import type { ResourceView } from '../../cacher/resource-view.ts';
import { fieldSelectorAttribute } from '../selector-attribute.ts';
import type { Attributes, Decision } from '../authorizer.ts';
import { attributesOf } from '../testing/attributes.ts';
import { nodeAuthorizer } from './node-authorizer.ts';
import { NodeGraph } from './node-graph.ts';
import { nodeRules } from './node-rules.ts';

const naming = namingProfile('svc');
const signal = new AbortController().signal;

const pods: Readonly<Record<string, JsonObject>> = {
  'ns/p1': {
    metadata: { namespace: 'ns', name: 'p1' },
    spec: {
      nodeName: 'n1',
      serviceAccountName: 'robot',
      resourceClaims: [{ name: 'd', resourceClaimName: 'device' }],
      volumes: [
        { name: 's', secret: { secretName: 'used' } },
        { name: 'c', configMap: { name: 'used' } },
        { name: 'v', persistentVolumeClaim: { claimName: 'data' } },
      ],
    },
  },
  'ns/mirror': {
    metadata: {
      namespace: 'ns',
      name: 'mirror',
      annotations: { 'svc.io/config.mirror': 'x' },
    },
    spec: { nodeName: 'n1', volumes: [{ name: 's', secret: { secretName: 'wanted' } }] },
  },
};
const volume: JsonObject = {
  metadata: { name: 'pv' },
  spec: {
    claimRef: { namespace: 'ns', name: 'data' },
    csi: { driver: 'd', nodeStageSecretRef: { namespace: 'storage', name: 'stage' } },
  },
};

/** What the authorizer reads of views. */
const viewOf = (objects: Readonly<Record<string, JsonObject>>): ResourceView =>
  ({
    peek({ namespace, name }: { namespace: string; name: string }) {
      const object = objects[namespace === '' ? name : `${namespace}/${name}`];
      if (object === undefined) return undefined;
      const { nodeName } = object['spec'] as { nodeName: string };
      return { corrupted: false, object: () => object, field: () => nodeName };
    },
  }) as unknown as ResourceView;
const onNode = (nodeName: string): JsonObject => ({ spec: { nodeName } });

function decide(change: Partial<Attributes>, gatesOn: readonly string[] = defaultGates): Decision {
  const graph = new NodeGraph(naming);
  for (const [key, pod] of Object.entries(pods)) graph.setPod(key, 'n1', () => pod);
  graph.setVolume('/pv', volume);
  const gates = { isEnabled: (gate: string) => gatesOn.includes(gate) };
  const views = {
    pods: viewOf(pods),
    volumeAttachments: viewOf({ att: onNode('n1') }),
    resourceSlices: viewOf({ slice: onNode('n1') }),
    podCertificateRequests: viewOf({ 'ns/pcr': onNode('n1') }),
  };
  const rules = nodeRules(naming, gates);
  const authorizer = nodeAuthorizer({ graph, views, rules, naming, gates });
  const attributes = attributesOf({ user: n1, isResourceRequest: true, path: '', ...change });
  return authorizer.authorize(attributes, signal) as Decision;
}

const user = (name: string, ...groups: string[]): Attributes['user'] => ({
  name,
  uid: '',
  groups,
  extra: {},
});
const n1 = user('system:node:n1', 'system:nodes', 'system:authenticated');
const n2 = user('system:node:n2', 'system:nodes');
const defaultGates = ['KubeletServiceAccountTokenForCredentialProviders'];

const groups: Readonly<Record<string, string>> = {
  resourceclaims: 'resource.svc.io',
  resourceslices: 'resource.svc.io',
  volumeattachments: 'storage.svc.io',
  csinodes: 'storage.svc.io',
  csidrivers: 'storage.svc.io',
  leases: 'coordination.svc.io',
  podcertificaterequests: 'certificates.svc.io',
  certificatesigningrequests: 'certificates.svc.io',
  deployments: 'apps',
  tokenreviews: 'authentication.svc.io',
};

/** `get secrets/status ns/name`; `-` is all namespaces, and no name. */
function asked(text: string, selector = ''): Partial<Attributes> {
  const [verb = '', whole = '', at = '-'] = text.split(' ');
  const [resource = '', subresource = ''] = whole.split('/');
  const [first = '', second] = at === '-' ? [''] : at.split('/');
  const [namespace, name] = second === undefined ? ['', first] : [first, second];
  const fieldSelector = fieldSelectorAttribute(selector);
  const group = groups[resource] ?? '';
  return { verb, group, resource, subresource, namespace, name, fieldSelector };
}

const unrelated = "no relationship found between node 'n1' and this object";
const unnamed = 'No Object name found';

describe('a node may', () => {
  test.each([
    'get secrets ns/used',
    'list secrets ns/used',
    'watch configmaps ns/used',
    'get secrets storage/stage',
    'get persistentvolumeclaims ns/data',
    'patch persistentvolumeclaims/status ns/data',
    'get persistentvolumes pv',
    'get resourceclaims ns/device',
    'get volumeattachments att',
    'get serviceaccounts ns/robot',
    'create serviceaccounts/token ns/robot',
    'get pods ns/p1',
    'get pods ns/mirror',
    'watch pods ns/p1',
    'create pods ns/',
    'delete pods ns/other',
    'update pods/status ns/other',
    'create pods/eviction ns/other',
    'get nodes n1',
    'list nodes n1',
    'create nodes -',
    'patch nodes n2',
    'update nodes/status n2',
    'create leases svc-node-lease/',
    'update leases svc-node-lease/n1',
    'delete csinodes n1',
    'create csinodes -',
    'create resourceslices -',
    'patch resourceslices slice',
    'list services -',
    'watch csidrivers -',
    'get endpoints ns/e',
    'create certificatesigningrequests -',
    'create tokenreviews -',
    'create events ns/',
  ])('%s', (text) => {
    expect(decide(asked(text))).toEqual({ effect: 'allow', reason: '' });
  });
});

describe('a node may not', () => {
  test.each([
    ['get secrets ns/unused', unrelated],
    ['get secrets other/used', unrelated],
    ['get secrets ns/wanted', unrelated],
    ['list secrets ns/', unnamed],
    ['list secrets -', 'can only read namespaced object of this type'],
    ['update secrets ns/used', 'can only read resources of this type'],
    ['get secrets/status ns/used', 'cannot read subresource'],
    ['watch configmaps ns/unused', unrelated],
    ['list persistentvolumeclaims ns/data', 'can only get individual resources of this type'],
    ['get persistentvolumeclaims ns/other', unrelated],
    ['get persistentvolumeclaims/status ns/data', 'can only get/update/patch this type'],
    ['patch persistentvolumeclaims/status ns/other', unrelated],
    ['list persistentvolumes -', 'can only get individual resources of this type'],
    ['get persistentvolumes/status pv', 'cannot get subresource'],
    ['get persistentvolumes other', unrelated],
    ['get resourceclaims ns/other', unrelated],
    ['get volumeattachments other', unrelated],
    ['get serviceaccounts ns/other', unrelated],
    ['list serviceaccounts ns/', 'can only create tokens for individual service accounts'],
    [
      'create serviceaccounts/scale ns/robot',
      'can only create token subresource of serviceaccount',
    ],
    ['create serviceaccounts/token ns/default', unrelated],
    ['get pods ns/other', unrelated],
    ['watch pods ns/other', unrelated],
    ['list pods -', 'can only list/watch pods with spec.nodeName field selector'],
    ['update pods ns/p1', ''],
    ['patch pods/ephemeralcontainers ns/p1', ''],
    ['create pods/binding ns/p1', ''],
    ['get nodes n2', "node 'n1' cannot read 'n2', only its own Node object"],
    ['list nodes -', "node 'n1' cannot read all nodes, only its own Node object"],
    ['delete nodes n1', ''],
    ['get nodes/status n1', ''],
    ['get nodes/proxy n1', ''],
    ['list leases svc-node-lease/', 'can only get, create, update, patch, or delete a node lease'],
    ['get leases ns/n1', 'can only access leases in the "svc-node-lease" system namespace'],
    [
      'get leases svc-node-lease/n2',
      'can only access node lease with the same name as the requesting node',
    ],
    ['list csinodes -', 'can only get, create, update, patch, or delete a CSINode'],
    ['get csinodes/status n1', 'cannot authorize CSINode subresources'],
    ['patch csinodes n2', 'can only access CSINode with the same name as the requesting node'],
    ['get resourceslices other', unrelated],
    ['get resourceslices -', unnamed],
    ['get resourceslices/status slice', 'cannot authorize ResourceSlice subresources'],
    [
      'list resourceslices -',
      'can only list/watch/deletecollection resourceslices with nodeName field selector',
    ],
    [
      'proxy resourceslices slice',
      'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, ' +
        'update, patch, delete, deletecollection',
    ],
    ['get podcertificaterequests ns/pcr', ''],
    ['list deployments -', ''],
    ['create configmaps ns/', 'can only read resources of this type'],
  ])('%s: %s', (text, reason) => {
    expect(decide(asked(text))).toEqual({ effect: 'noOpinion', reason });
  });
});

describe('a selector', () => {
  test.each([
    ['list pods -', 'spec.nodeName=n1', true],
    ['watch pods ns/', 'status.phase=Running,spec.nodeName=n1', true],
    ['list pods -', 'spec.nodeName=n2', false],
    ['list pods -', 'spec.nodeName!=n1', false],
    ['list pods -', 'metadata.name=n1', false],
    ['list pods -', 'spec.nodeName', false],
    ['deletecollection resourceslices -', 'spec.nodeName=n1', true],
    ['watch resourceslices -', 'spec.nodeName=n2', false],
  ])('%s?%s: %j', (text, selector, isAllowed) => {
    expect(decide(asked(text, selector)).effect).toBe(isAllowed ? 'allow' : 'noOpinion');
  });
});

describe('who is a node', () => {
  test.each([
    ['another node', n2, "no relationship found between node 'n2' and this object"],
    ['without the group', user('system:node:n1', 'other'), ''],
    ['without the prefix', user('n1', 'system:nodes'), ''],
    [
      'without a name',
      user('system:node:', 'system:nodes'),
      'unknown node for user "system:node:"',
    ],
  ])('%s', (_claim, who, reason) => {
    const secret = asked('get secrets ns/used');
    expect(decide({ ...secret, user: who })).toEqual({ effect: 'noOpinion', reason });
    expect(decide({ ...asked('list services -'), user: who }).effect).toBe(
      who === n2 ? 'allow' : 'noOpinion',
    );
  });
});

test('a resource of another group with the same name is another resource', () => {
  const metrics = { ...asked('get nodes n1'), group: 'metrics.svc.io' };
  expect(decide(metrics)).toEqual({ effect: 'noOpinion', reason: '' });
});

test('paths are for others to decide', () => {
  const path = { isResourceRequest: false, path: '/healthz' };
  expect(decide(path)).toEqual({ effect: 'noOpinion', reason: '' });
});

describe('with the gate PodCertificateRequest a node may', () => {
  const listed = 'can only list/watch podcertificaterequests with nodeName field selector';
  test.each([
    ['create podcertificaterequests ns/', '', 'allow', ''],
    ['get podcertificaterequests ns/pcr', '', 'allow', ''],
    ['get podcertificaterequests ns/other', '', 'noOpinion', unrelated],
    ['watch podcertificaterequests -', 'spec.nodeName=n1', 'allow', ''],
    ['watch podcertificaterequests -', 'spec.nodeName=n2', 'noOpinion', listed],
    ['delete podcertificaterequests ns/pcr', '', 'noOpinion', ''],
    [
      'update podcertificaterequests/status ns/pcr',
      '',
      'noOpinion',
      'nodes may not access the status subresource of PodCertificateRequests',
    ],
    ['get serviceaccounts ns/robot', '', 'allow', ''],
  ])('%s %s: %s %s', (text, selector, effect, reason) => {
    const decision = decide(asked(text, selector), ['PodCertificateRequest']);
    expect(decision).toEqual({ effect, reason });
  });
});

test('without its gates accounts are not read', () => {
  expect(decide(asked('get serviceaccounts ns/robot'), [])).toEqual({
    effect: 'noOpinion',
    reason: 'not allowed to get service accounts',
  });
});

test.each([
  ['a node has', n1, true, 'node authorizer does not support user rule resolution'],
  ['others have nothing of', user('alice'), false, ''],
])('%s rules that cannot be listed', (_claim, who, incomplete, evaluationError) => {
  const graph = new NodeGraph(naming);
  const gates = { isEnabled: () => false };
  const views = {
    pods: viewOf({}),
    volumeAttachments: undefined,
    resourceSlices: undefined,
    podCertificateRequests: undefined,
  };
  const authorizer = nodeAuthorizer({ graph, views, rules: [], naming, gates });
  const none = { resourceRules: [], nonResourceRules: [] };
  expect(authorizer.rulesFor?.(who, 'ns')).toEqual({ ...none, incomplete, evaluationError });
});
