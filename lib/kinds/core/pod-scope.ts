// The context in which parts of a pod are validated: its specification and its volumes.
import type { JsonObject } from '../../api/type-info.ts';
import type { Scope } from '../validator.ts';

/** The pod's volumes by name. */
export type PodVolumes = ReadonlyMap<string, JsonObject>;

export interface PodScope extends Scope {
  readonly spec: JsonObject;
  readonly volumes: PodVolumes;
  readonly hostNetwork: boolean;
  readonly graceSeconds: number;
  readonly osName: string;
  /** A pod itself, not a template. */
  readonly isPod: boolean;
}
