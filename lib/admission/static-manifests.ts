// Configurations of admission that lie in files, not in the API: in force before the first request,
// whatever is stored, and on requests about configurations, too.
import type { Item } from '../cacher/resource-view.ts';

/** An object of a file, defaulted and valid, in the stored version: as an item of a view. */
export type StaticManifest = Pick<Item, 'name' | 'corrupted' | 'object'>;

export interface StaticManifests {
  /**
   * Of a resource of the configuration group, by name: the same list until a file changes. They are
   * judged before those of the API.
   */
  of(resource: string): readonly StaticManifest[];
}

const none: readonly StaticManifest[] = [];
export const noManifests: StaticManifests = { of: () => none };
