// How many streams of one connection may end before their time (rapid reset, CVE-2023-44487; those
// that the client makes the server reset count as well, CVE-2025-8671).
import { limits } from '../../base/limits.ts';
import { http2Code, Http2Error } from '../../http2/frames.ts';

const { http2ResetBurstMax, http2ResetsPerSecondMax } = limits;

export class ResetBudget {
  #left: number = http2ResetBurstMax;
  #atMs = performance.now();

  /** @throws Http2Error where there are too many */
  take(): void {
    const nowMs = performance.now();
    const earned = ((nowMs - this.#atMs) / 1_000) * http2ResetsPerSecondMax;
    this.#left = Math.min(this.#left + earned, http2ResetBurstMax) - 1;
    this.#atMs = nowMs;
    if (this.#left < 0) throw new Http2Error(http2Code.enhanceYourCalm, 'too many resets');
  }
}
