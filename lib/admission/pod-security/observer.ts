// Who is told what the plugin PodSecurity does: its metrics.
import type { AdmissionRequest } from '../plugin.ts';
import type { LevelVersion, Mode } from './policy.ts';

export type PodSecurityDecision = 'allow' | 'deny';

export interface PodSecurityObserver {
  /** Of modes other than `enforce`, refusals alone. */
  onEvaluation(
    request: AdmissionRequest,
    mode: Mode,
    policy: LevelVersion,
    decision: PodSecurityDecision,
  ): void;
  onExemption(request: AdmissionRequest): void;
  /** What should be looked at could not be; fatal: so nothing was. */
  onError(request: AdmissionRequest, isFatal: boolean): void;
}
