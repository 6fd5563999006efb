// Preloaded into a replica: its wall clock is five minutes ahead of the machine's. Timers and the
// monotonic clock are as they were.
'use strict';

const aheadMs = 300_000;
const realNow = Date.now;
const now = () => realNow() + aheadMs;

globalThis.Date = new Proxy(Date, {
  construct: (target, given, made) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, made),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});
