// AlwaysAdmit and AlwaysDeny: the two ends. Both are deprecated.
import type { ApiObject } from '../../codec/codec.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import { refusal } from '../refusal.ts';

export const alwaysAdmit = (): AdmissionPlugin => ({
  name: 'AlwaysAdmit',
  sideEffects: false,
  handles: () => false,
});

export const alwaysDeny = (): AdmissionPlugin => ({
  name: 'AlwaysDeny',
  sideEffects: false,
  handles: () => true,
  mutate: deny,
  beforeDelete: (request) => deny(request, undefined),
  validate: deny,
});

function deny(request: AdmissionRequest, object: Readonly<ApiObject> | undefined): never {
  throw refusal(request, object, 'admission control is denying all modifications');
}
