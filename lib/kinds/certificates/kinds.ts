// The kinds of certificates: one record each.
import type { Kind } from '../kind.ts';
import {
  validatePodCertificateRequest,
  validateSigningRequest,
  validateTrustBundle,
} from './certificate-validation.ts';
import { podRequestColumns, signingRequestColumns, trustBundleColumns } from './columns.ts';
import { signingRequestDefaults } from './defaults.ts';
import { signingRequestStrategy } from './signing-requests.ts';

export const certificatesKinds: readonly Kind[] = [
  {
    name: 'certificates/CertificateSigningRequest',
    columns: signingRequestColumns,
    defaults: signingRequestDefaults,
    strategy: signingRequestStrategy,
    validate: validateSigningRequest,
  },
  {
    name: 'certificates/ClusterTrustBundle',
    columns: trustBundleColumns,
    validate: validateTrustBundle,
  },
  {
    name: 'certificates/PodCertificateRequest',
    columns: podRequestColumns,
    validate: validatePodCertificateRequest,
  },
];
