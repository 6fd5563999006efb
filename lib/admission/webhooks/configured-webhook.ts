// One webhook of a configuration as calls need it, made once for each version of its object.
import { numberAt, recordAt, textAt, textsAt } from '../../api/json-access.ts';
import { recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { webhookCriteria } from '../match/criteria.ts';
import type { Criteria } from '../match/criteria.ts';
import type { CalledConfiguration, CalledWebhook } from './caller.ts';
import type { ReviewVersion } from './review.ts';

export interface ConfiguredWebhook extends CalledWebhook {
  readonly configuration: CalledConfiguration;
  /** Tells it from all others of its sort, also from its namesakes in one configuration. */
  readonly key: string;
  readonly criteria: Criteria;
  readonly ignoresFailures: boolean;
  /** What objects of old have: None, NoneOnDryRun, Some, Unknown. */
  readonly sideEffects: string;
  /** The first that is spoken here; undefined: none is. */
  readonly reviewVersion: ReviewVersion | undefined;
  /** Texts of `matchConditions`. */
  readonly conditions: readonly string[];
  /** It may be asked again about what others have changed since. */
  readonly isReinvoked: boolean;
}

/** Those of one configuration, in the order of its list. */
export function webhooksOf(object: Readonly<ApiObject>): readonly ConfiguredWebhook[] {
  const { name = '', uid = '' } = object.metadata ?? {};
  const configuration = { name, uid };
  const namesakes = new Map<string, number>();
  return recordsAt(object, 'webhooks').map((webhook) => {
    const ownName = textAt(webhook, 'name');
    const count = namesakes.get(ownName) ?? 0;
    namesakes.set(ownName, count + 1);
    const key = `${uid} ${name} ${ownName} ${String(count)}`;
    return configuredWebhook(webhook, { configuration, key });
  });
}

function configuredWebhook(
  webhook: JsonObject,
  of: Pick<ConfiguredWebhook, 'configuration' | 'key'>,
): ConfiguredWebhook {
  const timeoutSeconds = numberAt(webhook, 'timeoutSeconds');
  const failurePolicy = textAt(webhook, 'failurePolicy');
  return {
    ...of,
    name: textAt(webhook, 'name'),
    // As it is stored it passed validation, or is refused when it is opened.
    clientConfig: recordAt(webhook, 'clientConfig') ?? {},
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    failurePolicy,
    ignoresFailures: failurePolicy === 'Ignore',
    criteria: webhookCriteria(webhook),
    sideEffects: textAt(webhook, 'sideEffects'),
    reviewVersion: textsAt(webhook, 'admissionReviewVersions').find(isSpoken),
    conditions: recordsAt(webhook, 'matchConditions').map((one) => textAt(one, 'expression')),
    isReinvoked: textAt(webhook, 'reinvocationPolicy') === 'IfNeeded',
  };
}

const isSpoken = (version: string): version is ReviewVersion =>
  version === 'v1' || version === 'v1beta1';
