// Annotations of claims and persistent volumes that have become fields.
import type { NamingProfile } from '../../api/vendor.ts';

/** Now `spec.storageClassName`. */
export const classAnnotation = (naming: NamingProfile): string =>
  naming.resolve('volume.beta.{kubernetes}.io/storage-class');

/** Now `spec.mountOptions`, of persistent volumes alone. */
export const optionsAnnotation = (naming: NamingProfile): string =>
  naming.resolve('volume.beta.{kubernetes}.io/mount-options');
