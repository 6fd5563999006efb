// AlwaysAdmit and AlwaysDeny: the two ends. Both are deprecated.
import { forbidden } from '../../base/status.ts';
import type { AdmissionPlugin } from '../plugin.ts';

export const alwaysAdmit = (): AdmissionPlugin => ({
  name: 'AlwaysAdmit',
  sideEffects: false,
  handles: () => false,
});

export const alwaysDeny = (): AdmissionPlugin => ({
  name: 'AlwaysDeny',
  sideEffects: false,
  handles: () => true,
  validate({ resource, name }) {
    throw forbidden(resource, name, 'admission control is denying all modifications');
  },
});
