// Which secrets a persistent volume names for the nodes that mount it. What controllers alone need
// is not among them.
import { recordAt, recordIn, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

type Holder = Readonly<JsonObject> | undefined;

export interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/** Their secret lies in the namespace of the claim where none is stated. */
const sourcesOfClaim = ['cephfs', 'flexVolume', 'iscsi', 'rbd', 'scaleIO'] as const;
/** Their secret lies in the namespace that is stated. */
const sourcesOfNamespace = ['cinder', 'storageos'] as const;
const driverMembers = [
  'nodePublishSecretRef',
  'nodeStageSecretRef',
  'nodeExpandSecretRef',
] as const;

export function nodeSecretsOf(volume: Holder): readonly SecretName[] {
  const spec = recordAt(volume, 'spec');
  const ofClaim = textAt(recordAt(spec, 'claimRef'), 'namespace');
  const file = recordAt(spec, 'azureFile');
  const secrets: SecretName[] = [
    { namespace: textAt(file, 'secretNamespace') || ofClaim, name: textAt(file, 'secretName') },
    ...sourcesOfClaim.map((source) => named(recordIn(spec, source, 'secretRef'), ofClaim)),
    ...sourcesOfNamespace.map((source) => named(recordIn(spec, source, 'secretRef'), '')),
    ...driverMembers.map((member) => named(recordIn(spec, 'csi', member), '')),
  ];
  return secrets.filter(({ name }) => name !== '');
}

const named = (reference: Holder, otherwise: string): SecretName => ({
  namespace: textAt(reference, 'namespace') || otherwise,
  name: textAt(reference, 'name'),
});
