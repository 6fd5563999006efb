// The config map that tells the pods of each namespace how to verify this server.
import { jsonEqual } from '../api/json-value.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { ApiObject } from '../codec/codec.ts';
import { metaOf } from '../codec/object-meta.ts';
import type { NamespaceObjectOptions } from './namespace-object.ts';

/** `serverCa`: PEM. */
export function rootCaConfigMap(
  naming: NamingProfile,
  serverCa: string,
): Pick<NamespaceObjectOptions, 'make'> & { readonly mend: (object: ApiObject) => boolean } {
  const described = naming.resolve('{kubernetes}.io/description');
  const description =
    'The certificates by which clients inside the cluster verify the API server at its internal ' +
    `names and addresses, such as ${naming.resolve('{kubernetes}')}.default.svc. Nothing else is ` +
    'promised of them.';
  const data = { 'ca.crt': serverCa };
  return {
    make: () => ({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name: naming.rootCaConfigMap,
        annotations: { [described]: description },
      },
      data: { ...data },
    }),
    mend(object) {
      const annotations = object.metadata?.annotations ?? {};
      const isDescribed = (annotations[described] ?? '') !== '';
      if (isDescribed && jsonEqual(object['data'] ?? {}, data)) return false;
      metaOf(object).annotations = { ...annotations, [described]: description };
      object['data'] = { ...data };
      return true;
    },
  };
}
