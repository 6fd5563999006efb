// What admission webhooks have to do with one request: how long they may still take, how long it
// has waited for them, and what they tell its audit event.

export interface WebhookTrail {
  /** Until the deadline of the request, in milliseconds. */
  leftMs(): number;
  /** All mutating calls together: they follow one another. */
  mutatingMs: number;
  /** The longest validating call: all are made at once. */
  validatingMs: number;
  /** Annotations of an event that shows bodies; undefined: the request has none such. */
  readonly details: Map<string, string> | undefined;
}
