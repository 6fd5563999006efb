import { always, findsIn } from './testing/found-in-pods.ts';
import type { Given } from './testing/found-in-pods.ts';

const volumes = (...types: string[]): Given => ({
  spec: { volumes: types.map((type) => ({ name: `of-${type}`, [type]: {} })) },
});

findsIn([
  [
    'that pods may have',
    volumes(
      'configMap',
      'csi',
      'downwardAPI',
      'emptyDir',
      'ephemeral',
      'image',
      'persistentVolumeClaim',
      'projected',
      'secret',
    ),
    always(''),
  ],
  [
    'of storage systems',
    volumes('nfs', 'emptyDir', 'awsElasticBlockStore'),
    always(
      '',
      'restricted volume types (volumes "of-nfs", "of-awsElasticBlockStore" use ' +
        'restricted volume types "awsElasticBlockStore", "nfs")',
    ),
  ],
  [
    'of a type that nobody knows',
    volumes('nosuch'),
    always(
      '',
      'restricted volume types (volume "of-nosuch" uses restricted volume type "unknown")',
    ),
  ],
]);
