// livez, readyz and healthz: named checks, run at each request; the texts of specification 2,
// Health endpoints.

export const healthEndpoints = ['livez', 'readyz', 'healthz'] as const;
export type HealthEndpoint = (typeof healthEndpoints)[number];

export interface HealthCheck {
  /** As in the verbose output and in `/readyz/<name>`. */
  readonly name: string;
  /** Endpoints that include the check. */
  readonly endpoints: readonly HealthEndpoint[];
  /** It tells of processes beside this one. */
  readonly isOfOthers?: true;
  /**
   * undefined: healthy. A text says what is wrong; it is logged and, without secrets, not shown to
   * clients. May take at most a moment: no I/O that can hang.
   */
  failure(): string | undefined;
  /**
   * Something an operator should know although the check passes; shown below its line with
   * `verbose`.
   */
  notice?(): string | undefined;
}

export interface HealthAnswer {
  readonly status: 200 | 404 | 500;
  readonly text: string;
  /** Failures with their reasons, for the log. */
  readonly failures: readonly { readonly name: string; readonly reason: string }[];
}

/** Told of each check that all of an endpoint are asked for with. */
export type HealthObserver = (name: string, endpoint: HealthEndpoint, isOk: boolean) => void;

export class Health {
  readonly #checks: readonly HealthCheck[];
  readonly #observe: HealthObserver;
  /** Awaited before readyz is answered: what checks need to know of others. Default: nothing. */
  readonly beforeReadyz: (() => Promise<void>) | undefined;

  /** `ping` comes first by itself. */
  constructor(
    checks: readonly HealthCheck[],
    observe: HealthObserver = () => undefined,
    beforeReadyz?: () => Promise<void>,
  ) {
    this.#observe = observe;
    this.beforeReadyz = beforeReadyz;
    const ping = { name: 'ping', endpoints: healthEndpoints, failure: () => undefined };
    this.#checks = [ping, ...checks];
  }

  /** Whether all checks of an endpoint pass that are this process' own; no observer is told. */
  isPassing(endpoint: HealthEndpoint): boolean {
    return this.ownFailure(endpoint) === undefined;
  }

  /** The first of those failures, in words for the log. */
  ownFailure(endpoint: HealthEndpoint): string | undefined {
    for (const check of this.#checks) {
      if (check.isOfOthers === true || !check.endpoints.includes(endpoint)) continue;
      const reason = check.failure();
      if (reason !== undefined) return `${check.name}: ${reason}`;
    }
    return undefined;
  }

  /** All checks of an endpoint but the excluded ones. */
  answer(
    endpoint: HealthEndpoint,
    options: { readonly verbose: boolean; readonly exclude: readonly string[] },
  ): HealthAnswer {
    const excluded = new Set(options.exclude);
    const lines: string[] = [];
    const failures: { name: string; reason: string }[] = [];
    for (const check of this.#checks) {
      if (!check.endpoints.includes(endpoint)) continue;
      if (excluded.delete(check.name)) {
        lines.push(`[+]${check.name} excluded: ok`);
        continue;
      }
      const reason = check.failure();
      this.#observe(check.name, endpoint, reason === undefined);
      if (reason !== undefined) {
        failures.push({ name: check.name, reason });
        lines.push(`[-]${check.name} failed: reason withheld`);
        continue;
      }
      lines.push(`[+]${check.name} ok`);
      const notice = check.notice?.();
      if (notice !== undefined) lines.push(`    ${notice}`);
    }
    if (excluded.size > 0) {
      const names = [...excluded].map((name) => JSON.stringify(name)).join(', ');
      lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
    }
    if (failures.length > 0) {
      return { status: 500, text: [...lines, `${endpoint} check failed`, ''].join('\n'), failures };
    }
    const text = options.verbose ? [...lines, 'healthz check passed', ''].join('\n') : 'ok';
    return { status: 200, text, failures };
  }

  /** Where there is something to ask: `/livez`, `/livez/etcd`. */
  get paths(): readonly string[] {
    return healthEndpoints.flatMap((endpoint) => {
      const own = this.#checks.filter((check) => check.endpoints.includes(endpoint));
      return [`/${endpoint}`, ...own.map(({ name }) => `/${endpoint}/${name}`)];
    });
  }

  /** One check alone: `/livez/etcd`. */
  answerOne(endpoint: HealthEndpoint, name: string): HealthAnswer {
    const check = this.#checks.find((one) => one.name === name && one.endpoints.includes(endpoint));
    if (check === undefined) return { status: 404, text: '404 page not found\n', failures: [] };
    const reason = check.failure();
    if (reason === undefined) return { status: 200, text: 'ok', failures: [] };
    const text = `internal server error: ${endpoint} check "${name}" failed\n`;
    return { status: 500, text, failures: [{ name, reason }] };
  }
}
