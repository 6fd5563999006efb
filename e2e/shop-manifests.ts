// A small shop as kubectl is given it, in two states. Ports and claims are stated in full: kubectl
// compares text and would send them again for the defaults that they get.
const labels = { app: 'shop' };
const list = (items: readonly object[]): object => ({ apiVersion: 'v1', kind: 'List', items });

export function shopManifests(namespace: string): {
  readonly namespace: object;
  readonly first: object;
  readonly second: object;
} {
  const settings = (data: object): object =>
    objectOf('v1', 'ConfigMap', namespace, 'settings', { data });
  const web = { name: 'web', resources: { requests: { cpu: '100m', memory: '100Mi' } } };
  const ports = [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP', name: 'u' }];
  const [envA, envB] = [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ];
  const http = { name: 'http', port: 80, targetPort: 8080 };
  const dns = { name: 'dns', port: 53, protocol: 'UDP' };
  return {
    namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    first: list([
      statefulSet(namespace),
      settings({ a: '1', b: '2' }),
      deployment(namespace, 3, [
        { ...web, ports, image: 'registry.example/web:1', env: [envA, envB] },
        { name: 'side', image: 'registry.example/side:1' },
      ]),
      service(namespace, [http, dns]),
      role(namespace, ['get', 'list']),
    ]),
    second: list([
      statefulSet(namespace),
      settings({ a: '9', c: '3' }),
      deployment(namespace, 5, [{ ...web, ports, image: 'registry.example/web:2', env: [envA] }]),
      service(namespace, [http, { ...dns, name: 'names', port: 5353 }]),
      role(namespace, ['get', 'watch']),
    ]),
  };
}

const objectOf = (
  apiVersion: string,
  kind: string,
  namespace: string,
  name: string,
  rest: object,
): object => ({ apiVersion, kind, metadata: { name, namespace, labels }, ...rest });

const deployment = (namespace: string, replicas: number, containers: readonly object[]): object => {
  const selected = { app: 'front' };
  const template = { metadata: { labels: selected }, spec: { containers } };
  const spec = { replicas, selector: { matchLabels: selected }, template };
  return objectOf('apps/v1', 'Deployment', namespace, 'front', { spec });
};

const service = (namespace: string, ports: readonly object[]): object =>
  objectOf('v1', 'Service', namespace, 'front', { spec: { selector: { app: 'front' }, ports } });

const role = (namespace: string, verbs: readonly string[]): object =>
  objectOf('rbac.authorization.k8s.io/v1', 'Role', namespace, 'reader', {
    rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
  });

function statefulSet(namespace: string): object {
  const selected = { app: 'store' };
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const containers = [{ name: 'db', image: 'registry.example/db:1', volumeMounts }];
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      volumeMode: 'Filesystem',
    },
    status: { phase: 'Pending' },
  };
  const spec = {
    serviceName: 'store',
    replicas: 2,
    selector: { matchLabels: selected },
    template: { metadata: { labels: selected }, spec: { containers } },
    volumeClaimTemplates: [claim],
  };
  return objectOf('apps/v1', 'StatefulSet', namespace, 'store', { spec });
}
