// A cell of a Table that grows older: everything else of a row can be kept while time passes.
/** Text around the time since a moment, which is read when the row is answered. */
export class AgeCell {
  readonly sinceMs: number;
  readonly before: string;
  readonly after: string;

  constructor(sinceMs: number, before = '', after = '') {
    this.sinceMs = sinceMs;
    this.before = before;
    this.after = after;
  }
}
