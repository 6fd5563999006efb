// Rules that deny what has the label of their lane: of each kind, and by each way of change.

import type { Replica, Reply } from '../harness.ts';

const api = '/apis/admissionregistration.k8s.io/v1';
const policies = `${api}/validatingadmissionpolicies`;
const bindings = `${api}/validatingadmissionpolicybindings`;
const validating = `${api}/validatingwebhookconfigurations`;
const mutating = `${api}/mutatingwebhookconfigurations`;
/** Nobody listens there. */
const nowhere = 'https://127.0.0.1:1/hook';

interface Rule {
  /** Of the list that it is in. */
  readonly path: string;
  readonly body: { readonly metadata: { readonly name: string } };
}

/** What denies the objects with one label, now and then. */
export interface Lane {
  /** Its value. */
  readonly label: string;
  readonly deny: (replica: Replica) => Promise<Reply>;
  readonly release: (replica: Replica) => Promise<Reply>;
  readonly isRefusal: (reply: Reply | undefined) => boolean;
}

const rulesFor = (apiGroup: string, resource: string, operation: string): object => ({
  operations: [operation],
  apiGroups: [apiGroup],
  apiVersions: ['*'],
  resources: [resource],
});
const laneSelector = (label: string): object => ({ matchLabels: { lane: label } });

/** Nothing, while no binding says where. */
const policy = (name: string, objectSelector: object = {}): Rule => ({
  path: policies,
  body: {
    metadata: { name },
    ...{
      spec: {
        matchConstraints: { objectSelector, resourceRules: [rulesFor('', 'configmaps', '*')] },
        validations: [{ expression: 'false', message: 'no' }],
      },
    },
  },
});
const binding = (name: string, policyName: string, objectSelector: object = {}): Rule => ({
  path: bindings,
  body: {
    metadata: { name },
    ...{ spec: { policyName, validationActions: ['Deny'], matchResources: { objectSelector } } },
  },
});
const webhooks = (path: string, name: string, clientConfig: object, objectSelector = {}): Rule => ({
  path,
  body: {
    metadata: { name },
    ...{
      webhooks: [
        {
          name: `${name}.example.com`,
          clientConfig,
          objectSelector,
          rules: [rulesFor('', 'configmaps', '*')],
          failurePolicy: 'Fail',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    },
  },
});

/** For everything that can be written, with nobody who answers. */
export const dead: readonly Rule[] = [mutating, validating].map((path) => {
  const { body } = webhooks(path, 'everything', { url: nowhere });
  const [webhook] = (body as unknown as { webhooks: object[] }).webhooks;
  const all = { ...webhook, rules: [rulesFor('*', '*/*', '*')] };
  return { path, body: { ...body, ...{ webhooks: [all] } } };
});

/** Rules that are there all the time; none denies anything as it is made here. */
export function standing(hook: object): readonly Rule[] {
  const nobody = laneSelector('none');
  return [
    policy('bound'),
    policy('selected', nobody),
    binding('selected', 'selected'),
    policy('rebound'),
    binding('rebound', 'rebound', nobody),
    webhooks(validating, 'aimed', hook, nobody),
  ];
}

/** While one denies, what is stored of its rule holds `"lane":"LABEL"`. */
export function lanes(hook: object): readonly Lane[] {
  const byExistence = (
    label: string,
    isRefusal: Lane['isRefusal'],
    { path, body }: Rule,
  ): Lane => ({
    label,
    deny: (replica) => replica.request('POST', path, { body }),
    release: (replica) => replica.request('DELETE', `${path}/${body.metadata.name}`),
    isRefusal,
  });
  const byPatch = (
    label: string,
    isRefusal: Lane['isRefusal'],
    path: string,
    patchOf: (label: string) => object,
  ): Lane => {
    const patched =
      (to: string) =>
      (replica: Replica): Promise<Reply> =>
        replica.request('PATCH', path, {
          body: patchOf(to),
          headers: { 'content-type': 'application/merge-patch+json' },
        });
    return { label, deny: patched(label), release: patched('none'), isRefusal };
  };
  const byPolicy = refusal(422, 'denied request: no');
  const byHook = refusal(403, 'denied the request: no');
  const selector = laneSelector;
  return [
    byExistence('l0', byPolicy, binding('l0', 'bound', selector('l0'))),
    byPatch('l1', byPolicy, `${policies}/selected`, (to) => ({
      spec: { matchConstraints: { objectSelector: selector(to) } },
    })),
    byPatch('l2', byPolicy, `${bindings}/rebound`, (to) => ({
      spec: { matchResources: { objectSelector: selector(to) } },
    })),
    byExistence('l3', byHook, webhooks(validating, 'l3', hook, selector('l3'))),
    byExistence('l4', byHook, webhooks(mutating, 'l4', hook, selector('l4'))),
    byExistence(
      'l5',
      refusal(500, 'failed calling webhook'),
      webhooks(validating, 'l5', { url: nowhere }, selector('l5')),
    ),
    byPatch('l6', byHook, `${validating}/aimed`, (to) => ({
      webhooks: (
        webhooks(validating, 'aimed', hook, selector(to)).body as unknown as { webhooks: object }
      ).webhooks,
    })),
  ];
}

const refusal =
  (status: number, text: string): Lane['isRefusal'] =>
  (reply) =>
    reply?.status === status && reply.text.includes(text);
