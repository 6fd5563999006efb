// The Pod of the micro benchmarks: about 2.5 KB of JSON, as a busy cluster holds them.
import type { JsonObject } from '../../lib/api/type-info.ts';

const condition = (type: string, at: string): JsonObject => ({
  type,
  status: 'True',
  lastProbeTime: null,
  lastTransitionTime: at,
});

const container = (): JsonObject => ({
  name: 'web',
  image: 'registry.example.com/shop/web:1.42.0',
  args: ['--listen=:8080', '--log-level=info'],
  ports: [
    { name: 'http', containerPort: 8080, protocol: 'TCP' },
    { name: 'metrics', containerPort: 9090, protocol: 'TCP' },
  ],
  env: [
    {
      name: 'POD_NAME',
      valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } },
    },
    { name: 'REGION', value: 'eu-central' },
  ],
  resources: {
    limits: { cpu: '500m', memory: '256Mi' },
    requests: { cpu: '100m', memory: '128Mi' },
  },
  volumeMounts: [
    { name: 'config', readOnly: true, mountPath: '/etc/web' },
    { name: 'cache', mountPath: '/var/cache/web' },
  ],
  livenessProbe: {
    httpGet: { path: '/livez', port: 'http', scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
});

const status = (): JsonObject => ({
  phase: 'Running',
  conditions: [
    condition('Initialized', '2026-01-15T10:00:02Z'),
    condition('Ready', '2026-01-15T10:00:09Z'),
    condition('PodScheduled', '2026-01-15T10:00:00Z'),
  ],
  hostIP: '10.1.2.3',
  podIP: '10.244.3.17',
  startTime: '2026-01-15T10:00:01Z',
  qosClass: 'Burstable',
});

export const samplePod = (index: number): JsonObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: `web-7d4b9c6f5-${String(index).padStart(5, '0')}`,
    generateName: 'web-7d4b9c6f5-',
    namespace: `team-${String(index % 20)}`,
    uid: '0b1c2d3e-4f50-4a6b-8c7d-9e0f1a2b3c4d',
    resourceVersion: String(100_000 + index),
    generation: 1,
    creationTimestamp: '2026-01-15T10:00:00Z',
    labels: { app: 'web', 'pod-template-hash': '7d4b9c6f5', tier: 'frontend' },
    annotations: { 'example.com/config-hash': 'a1b2c3d4e5f60718293a4b5c6d7e8f90' },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web-7d4b9c6f5',
        uid: 'c0ffee00-1111-4222-8333-444455556666',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: {
    volumes: [
      { name: 'config', configMap: { name: 'web-config', defaultMode: 420 } },
      { name: 'cache', emptyDir: { sizeLimit: '64Mi' } },
    ],
    containers: [container()],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    serviceAccountName: 'web',
    serviceAccount: 'web',
    automountServiceAccountToken: false, // what is sent again has no volume of another name
    nodeName: `node-${String(index % 100)}`,
    securityContext: {},
    schedulerName: 'default-scheduler',
  },
  status: status(),
});
