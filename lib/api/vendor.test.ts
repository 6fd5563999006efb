import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { namingProfile } from './vendor.ts';

describe('a naming profile', () => {
  test('replaces the placeholders and nothing else', () => {
    const text = 'rbac.{v} system:{kube}-x {kubernetes}.io {other} plain';
    expect(namingProfile('kubernetes').resolve(text)).toBe(
      'rbac.k8s.io system:kube-x kubernetes.io {other} plain',
    );
    expect(namingProfile('svc').resolve(text)).toBe(
      'rbac.svc.io system:svc-x svc.io {other} plain',
    );
  });
  test('names entries in its own spelling', () => {
    const { protobufMediaType, metaGroup, systemNamespace, execInfoVariable } =
      namingProfile('kubernetes');
    expect([protobufMediaType, metaGroup, systemNamespace, execInfoVariable]).toEqual([
      'application/vnd.kubernetes.protobuf',
      'meta.k8s.io',
      'kube-system',
      'KUBERNETES_EXEC_INFO',
    ]);
    expect(namingProfile('svc').execInfoVariable).toBe('SVC_EXEC_INFO');
  });
  test('leaves no placeholder in any entry', () => {
    for (const name of ['svc', 'kubernetes'] as const) {
      const texts = Object.values(namingProfile(name)).filter((one) => typeof one === 'string');
      expect(texts.filter((text) => text.includes('{'))).toEqual([]);
    }
  });
});

test('no .proto file holds either spelling', () => {
  const folder = join(import.meta.dirname, 'proto');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const spelled = files
    .filter((file) => file.endsWith('.proto'))
    .filter((file) =>
      /k8s\.io|kubernetes\.io|svc\.io|x-kubernetes-|kube-system/.test(
        readFileSync(join(folder, file), 'utf8'),
      ),
    );
  expect(spelled).toEqual([]);
});
