// EventRateLimit: so many Events a second may be written by the whole server, by each namespace,
// user or source. Each limit has its own count; a dry run counts nothing.
import { createHash } from 'node:crypto';
import { recordAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { tooManyRequests } from '../../base/status.ts';
import { ownText } from '../../base/text-memo.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { StrictFields } from '../../codec/strict-fields.ts';
import { handling } from '../handling.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { TokenBucket } from '../token-bucket.ts';
import type { Rate } from '../token-bucket.ts';

type Parts = Pick<PluginParts, 'naming' | 'clock' | 'configurationOf'>;

const name = 'EventRateLimit';

/** @throws Error for a configuration that is wrong, or not there. */
export function eventRateLimit(parts: Parts): AdmissionPlugin {
  const { clock, naming } = parts;
  const eventLimits = readConfiguration(parts).map((limit) => new EventLimit(limit, clock));
  const operations = ['CREATE', 'UPDATE'] as const;
  const isEvent = handling(
    { resource: 'events', operations },
    { group: naming.resolve('events.{v}'), resource: 'events', operations },
  );
  return {
    name,
    sideEffects: false,
    handles: (request) => isEvent(request) && !request.dryRun,
    validate(request, object, signal) {
      if (object === undefined) return;
      return whenThere(inCoreForm(request, object, signal), (event) => {
        const refusals = eventLimits
          .map((limit) => limit.refusalOf(request, event))
          .filter((text) => text !== undefined);
        if (refusals.length === 0) return;
        throw tooManyRequests(`Too many requests: ${aggregateText(refusals)}`);
      });
    },
  };
}

type Event = Readonly<ApiObject>;

const inCoreForm = (
  request: AdmissionRequest,
  object: Event,
  signal: AbortSignal,
): MaybePromise<Event> =>
  request.form.group === '' ? object : request.convert(object, 'v1', signal);

/** What the Events are counted by. */
const keyOf = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.name,
  SourceAndObject: (_request, event) => {
    const [source, object] = [recordAt(event, 'source'), recordAt(event, 'involvedObject')];
    const ofSource = ['component', 'host'].map((member) => textAt(source, member));
    const members = ['kind', 'namespace', 'name', 'uid', 'apiVersion'];
    return [...ofSource, ...members.map((member) => textAt(object, member))].join('');
  },
} as const satisfies Record<string, (request: AdmissionRequest, event: Event) => string>;

type LimitType = keyof typeof keyOf;
const isLimitType = (text: string): text is LimitType => Object.hasOwn(keyOf, text);

interface LimitOptions {
  readonly type: LimitType;
  readonly rate: Rate;
  /** Keys of which the counts are kept; of those beyond, the least recently used are forgotten. */
  readonly keysMax: number;
}

class EventLimit {
  readonly #options: LimitOptions;
  readonly #clock: Clock;
  /** In the order of use. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(options: LimitOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** undefined: there is none. */
  refusalOf(request: AdmissionRequest, event: Event): string | undefined {
    const { type } = this.#options;
    const key = keyOf[type](request, event);
    if (this.#bucketOf(keptKey(key)).take()) return undefined;
    return `limit reached on type ${type} for key ${key}`;
  }

  #bucketOf(key: string): TokenBucket {
    const { rate, keysMax } = this.#options;
    const bucket = this.#buckets.get(key) ?? new TokenBucket(rate, this.#clock);
    this.#buckets.delete(key); // so that the map stays in the order of use
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > keysMax) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    return bucket;
  }
}

/** Long ones are users' texts: their digest stands for them. */
const keptKey = (key: string): string =>
  key.length <= limits.eventLimitKeyLengthMax
    ? ownText(key)
    : createHash('sha256').update(key).digest('base64');

/** @throws Error */
function readConfiguration({ naming, configurationOf }: Parts): readonly LimitOptions[] {
  const document = configurationOf(name) as JsonObject | undefined; // parsed YAML
  if (document === undefined) throw new Error('there is no configuration of its limits');
  const root = StrictFields.of(document, {
    kind: 'Configuration',
    apiVersions: [naming.resolve('eventratelimit.admission.{v}/v1alpha1')],
  });
  const stated = root.objects('limits').map((at) => ({
    at,
    type: at.text('type'),
    perSecond: at.integer('qps') ?? 0,
    burst: at.integer('burst') ?? 0,
    keysMax: at.integer('cacheSize') ?? 0,
  }));
  root.finish();
  if (stated.length === 0) throw new Error('limits: must not be empty');
  return stated.map(({ at, type, perSecond, burst, keysMax }) => {
    if (!isLimitType(type)) {
      const supported = Object.keys(keyOf).join(', ');
      throw new Error(`${at.path('type')}: ${JSON.stringify(type)} is none of ${supported}`);
    }
    if (perSecond <= 0) throw new Error(`${at.path('qps')}: must be positive`);
    if (burst <= 0) throw new Error(`${at.path('burst')}: must be positive`);
    if (keysMax < 0) throw new Error(`${at.path('cacheSize')}: must not be negative`);
    const rate = { perSecond, burst };
    return { type, rate, keysMax: keysMax === 0 ? limits.eventLimitKeysMax : keysMax };
  });
}
