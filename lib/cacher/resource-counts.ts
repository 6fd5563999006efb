// Counters of one resource since the start: plain numbers, which metrics read when scraped.
export class ResourceCounts {
  /** Events taken from the store. */
  receivedEvents = 0;
  /** Objects of the states that watches began with. */
  initialEvents = 0;
  /** Watches that ended because the log had passed their position. */
  passedWatches = 0;
  /** Objects that lists looked at, by what held them. */
  readonly fetched = { memory: 0, snapshot: 0 };
  /** Objects that those lists answered with. */
  returned = 0;
}
