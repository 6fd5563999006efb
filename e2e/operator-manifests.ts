// What an operator brings: definitions of the size and shape that operators of today have, one of
// them near 800 KB, and objects of each kind. The same at every call.

export const operatorGroup = 'watch.example.com';
export const operatorCategory = 'watching';

export interface OperatorKind {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  /** How many containers its schema describes, which are most of its bytes. */
  readonly containerCount: number;
  readonly hasReplicas: boolean;
}

export const operatorKinds: readonly OperatorKind[] = (
  [
    ['Collector', 'col', 56, true],
    ['CollectorAgent', 'colagent', 8, true],
    ['Notifier', 'ntf', 8, true],
    ['NotifierConfig', 'ntfcfg', 8, false],
    ['Ruler', 'rul', 6, true],
    ['RuleGroup', 'rgr', 0, false],
    ['ServiceTarget', 'svct', 1, false],
    ['PodTarget', 'podt', 1, false],
    ['ProbeTarget', 'prbt', 1, false],
    ['ScrapeSource', 'scrs', 6, false],
  ] as const
).map(([kind, shortName, containerCount, hasReplicas]) => ({
  kind,
  plural: `${kind.toLowerCase()}s`,
  shortName,
  containerCount,
  hasReplicas,
}));

const word = (name: string): string => `x-kubernetes-${name}`;

/** As long as the texts of generated definitions are. */
const described = (what: string): string =>
  `${what} says how this part of the workload is made. The operator reads it whenever it makes ` +
  `or changes one; what is left out is as the settings of the operator have it.\nIt is checked ` +
  `as it is written, so that ${what} is never half right.`;

const named = (what: string, schema: object): object => ({
  description: described(what),
  ...schema,
});
const object = (properties: object, more: object = {}): object => ({
  type: 'object',
  properties,
  ...more,
});
const text = (what: string, more: object = {}): object => named(what, { type: 'string', ...more });
const integer = (what: string, more: object = {}): object =>
  named(what, { type: 'integer', format: 'int32', ...more });
const list = (items: object, type = 'atomic'): object => ({
  type: 'array',
  items,
  [word('list-type')]: type,
});
const listMap = (keys: readonly string[], items: object): object => ({
  ...list(items, 'map'),
  [word('list-map-keys')]: keys,
});
const quantity = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern: '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$',
  [word('int-or-string')]: true,
};
const intOrText = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  [word('int-or-string')]: true,
};
const texts = { type: 'object', additionalProperties: { type: 'string' } };
const quantities = { type: 'object', additionalProperties: quantity };
const keyOf = (what: string): object =>
  object(
    { key: text(`${what}.key`), name: text(`${what}.name`, { default: '' }) },
    { required: ['key'], [word('map-type')]: 'atomic' },
  );

const selector = (what: string): object => {
  const expression = object(
    {
      key: text(`${what}.key`),
      operator: text(`${what}.operator`, { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] }),
      values: list(text(`${what}.value`)),
    },
    { required: ['key', 'operator'] },
  );
  const properties = { matchExpressions: list(expression), matchLabels: texts };
  return object(properties, { [word('map-type')]: 'atomic' });
};

const probe = (what: string): object =>
  object({
    exec: object({ command: list(text(`${what}.command`)) }),
    httpGet: object(
      {
        host: text(`${what}.host`),
        httpHeaders: list(
          object({ name: text(`${what}.header`), value: text(`${what}.header value`) }),
        ),
        path: text(`${what}.path`),
        port: named(`${what}.port`, intOrText),
      },
      { required: ['port'] },
    ),
    initialDelaySeconds: integer(`${what}.initialDelaySeconds`, { minimum: 0 }),
    periodSeconds: integer(`${what}.periodSeconds`, { minimum: 1 }),
    timeoutSeconds: integer(`${what}.timeoutSeconds`, { minimum: 1 }),
  });

const container = (what: string): object =>
  object(
    {
      name: text(`${what}.name`, { minLength: 1 }),
      image: text(`${what}.image`),
      args: list(text(`${what}.arg`)),
      env: listMap(
        ['name'],
        object(
          {
            name: text(`${what}.env`),
            value: text(`${what}.env value`),
            valueFrom: object({
              configMapKeyRef: keyOf(`${what}.configMapKeyRef`),
              secretKeyRef: keyOf(`${what}.secretKeyRef`),
            }),
          },
          { required: ['name'] },
        ),
      ),
      livenessProbe: probe(`${what}.livenessProbe`),
      readinessProbe: probe(`${what}.readinessProbe`),
      ports: listMap(
        ['containerPort', 'protocol'],
        object(
          {
            containerPort: integer(`${what}.containerPort`, { minimum: 1, maximum: 65535 }),
            name: text(`${what}.port name`, { maxLength: 15 }),
            protocol: text(`${what}.protocol`, { default: 'TCP' }),
          },
          { required: ['containerPort'] },
        ),
      ),
      resources: object({ limits: quantities, requests: quantities }),
      securityContext: object({
        capabilities: object({ add: list(text(`${what}.add`)), drop: list(text(`${what}.drop`)) }),
        runAsNonRoot: named(`${what}.runAsNonRoot`, { type: 'boolean' }),
        runAsUser: named(`${what}.runAsUser`, { type: 'integer', format: 'int64' }),
      }),
      volumeMounts: listMap(
        ['mountPath'],
        object(
          { mountPath: text(`${what}.mountPath`), name: text(`${what}.volume`) },
          { required: ['mountPath', 'name'] },
        ),
      ),
    },
    { required: ['name'] },
  );

function specOf({ kind, containerCount, hasReplicas }: OperatorKind): object {
  const steps = Array.from({ length: containerCount }, (_one, index) => `step${String(index)}`);
  const replicas = integer('replicas', { minimum: 0, default: 1 });
  return object(
    {
      ...(hasReplicas ? { replicas } : {}),
      version: text('version', { minLength: 1 }),
      mode: text('mode', { enum: ['Active', 'Passive'], default: 'Active' }),
      paused: named('paused', { type: 'boolean' }),
      interval: text('interval', { pattern: '^(0|(([0-9]+)m)?(([0-9]+)s)?)$' }),
      storage: object({ requests: quantities }),
      selector: selector('selector'),
      hosts: list(text('host', { format: 'hostname' }), 'set'),
      endpoints: listMap(
        ['name'],
        object({ name: text('endpoint'), port: intOrText, params: texts }, { required: ['name'] }),
      ),
      groups: listMap(
        ['name'],
        object(
          { name: text('group'), rules: list(object({ expr: intOrText, labels: texts })) },
          { required: ['name'] },
        ),
      ),
      template: named(`the ${kind} template`, {
        type: 'object',
        [word('embedded-resource')]: true,
        [word('preserve-unknown-fields')]: true,
      }),
      settings: named('settings', { type: 'object', [word('preserve-unknown-fields')]: true }),
      containers: listMap(['name'], container('container')),
      ...Object.fromEntries(steps.map((step) => [step, container(step)])),
    },
    {
      required: ['version'],
      [word('validations')]: [
        {
          rule: "self.mode != 'Passive' || !has(self.paused) || !self.paused",
          message: 'what is passive cannot be paused',
        },
      ],
    },
  );
}

const condition = object(
  {
    type: text('type', { minLength: 1 }),
    status: text('status', { enum: ['True', 'False', 'Unknown'] }),
    lastTransitionTime: text('lastTransitionTime', { format: 'date-time' }),
    reason: text('reason'),
  },
  { required: ['type', 'status'] },
);
const status = object({
  conditions: listMap(['type'], condition),
  replicas: integer('replicas'),
  selector: text('selector'),
});

const column = (name: string, type: string, jsonPath: string, more: object = {}): object => ({
  ...{ name, type, jsonPath, ...more },
});

function definitionOf(given: OperatorKind): object {
  const { kind, plural, shortName, hasReplicas } = given;
  const schema = object(
    {
      apiVersion: text('apiVersion'),
      kind: text('kind'),
      metadata: { type: 'object' },
      spec: specOf(given),
      status,
    },
    { required: ['spec'], description: `${kind}: a part of what the operator runs.` },
  );
  const scale = {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  };
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    subresources: { status: {}, ...(hasReplicas ? { scale } : {}) },
    selectableFields: [{ jsonPath: '.spec.mode' }, { jsonPath: '.spec.version' }],
    additionalPrinterColumns: [
      column('Version', 'string', '.spec.version', { description: 'What it runs.' }),
      ...(hasReplicas ? [column('Desired', 'integer', '.spec.replicas')] : []),
      column('Available', 'string', ".status.conditions[?(@.type=='Available')].status"),
      column('Age', 'date', '.metadata.creationTimestamp'),
      column('Mode', 'string', '.spec.mode', { priority: 1 }),
    ],
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${operatorGroup}`, annotations: { 'example.com/made': 'here' } },
    spec: {
      group: operatorGroup,
      scope: 'Namespaced',
      names: {
        ...{ kind, plural, listKind: `${kind}List`, singular: kind.toLowerCase() },
        ...{ shortNames: [shortName], categories: [operatorCategory] },
      },
      versions: [version],
    },
  };
}

function objectOf({ kind, hasReplicas }: OperatorKind, namespace: string, name: string): object {
  return {
    apiVersion: `${operatorGroup}/v1`,
    kind,
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      ...(hasReplicas ? { replicas: 2 } : {}),
      version: '1.2.3',
      interval: '1m30s',
      storage: { requests: { memory: '400Mi', cpu: 2 } },
      selector: { matchLabels: { app: name } },
      hosts: ['a.example.com', 'b.example.com'],
      endpoints: [
        { name: 'http', port: 8080, params: { module: 'x' } },
        { name: 'dns', port: 'dns' },
      ],
      groups: [{ name: 'g', rules: [{ expr: 1, labels: { severity: 'none' } }, { expr: 'up' }] }],
      template: { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'inner' }, data: { a: [1] } },
      settings: { any: { thing: [null, 1.5, 'x'] } },
      containers: [
        {
          name: 'main',
          image: 'registry.example/main:1',
          env: [{ name: 'A', value: '1' }],
          // Stated in full: kubectl compares lists as text and would send them again.
          ports: [
            { containerPort: 53, protocol: 'UDP' },
            { containerPort: 53, protocol: 'TCP' },
          ],
          livenessProbe: { httpGet: { path: '/healthz', port: 'web' }, periodSeconds: 3 },
        },
      ],
    },
  };
}

export const operatorDefinitions = (): readonly object[] => operatorKinds.map(definitionOf);

/** `countOfKind` objects of each kind, in this namespace. */
export const operatorObjects = (namespace: string, countOfKind: number): readonly object[] =>
  operatorKinds.flatMap((kind) =>
    Array.from({ length: countOfKind }, (_one, index) =>
      objectOf(kind, namespace, `o${String(index)}`),
    ),
  );

export const listOf = (items: readonly object[]): object => ({
  apiVersion: 'v1',
  kind: 'List',
  items,
});

/** Of kubectl: prints kind, name and revision of all custom objects in a namespace. */
export const objectVersions = (namespace: string): readonly string[] => [
  ...['get', operatorCategory, '-n', namespace, '--no-headers', '-o'],
  'custom-columns=K:.kind,N:.metadata.name,V:.metadata.resourceVersion',
];
