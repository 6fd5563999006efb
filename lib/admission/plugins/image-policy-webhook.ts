// ImagePolicyWebhook: a service outside says which images pods may run. Its answers are kept for a
// time. Where it cannot be asked, the configuration says whether pods are admitted.
import { createHash } from 'node:crypto';
import { entriesAt, recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { ExpiringMap } from '../../base/expiring-map.ts';
import { limits } from '../../base/limits.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { askReview } from '../../client/ask-review.ts';
import { CallError } from '../../client/call-error.ts';
import { openTarget } from '../../client/open-target.ts';
import type { Target } from '../../client/target.ts';
import { handling } from '../handling.ts';
import { imageReviewKind, readImageAnswer, readImagePolicy } from '../image-policy.ts';
import type { ImageAnswer, ImagePolicy } from '../image-policy.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';

type Pod = Readonly<ApiObject>;
type Parts = Pick<PluginParts, 'naming' | 'clock' | 'calls' | 'log' | 'configurationOf' | 'atEnd'>;

const name = 'ImagePolicyWebhook';
const debugging = 'ephemeralcontainers';

/** @throws Error for a configuration that is wrong, or not there. */
export async function imagePolicyWebhook(parts: Parts): Promise<AdmissionPlugin> {
  const document = parts.configurationOf(name) as JsonObject | undefined; // parsed YAML
  const policy = readImagePolicy(document);
  const { kubeconfigFile } = policy;
  const target = await openTarget({ kubeconfigFile }, parts.calls);
  parts.atEnd(() => target.close());
  return imagePolicyPlugin({ ...parts, policy, target });
}

function imagePolicyPlugin(
  parts: Pick<Parts, 'naming' | 'clock' | 'log'> & {
    readonly policy: ImagePolicy;
    readonly target: Target;
  },
): AdmissionPlugin {
  const { naming, policy, log, clock } = parts;
  const prefix = naming.resolve('imagepolicywebhook.image-policy.{v}/');
  const passedOn = naming.resolve('.image-policy.{v}/');
  const apiVersion = naming.resolve('imagepolicy.{v}/v1alpha1');
  const kept = new ExpiringMap<ImageAnswer>({
    countMax: limits.imageReviewsMax,
    nowMs: () => clock.monotonicMs(),
  });
  const ask = async (spec: string, signal: AbortSignal): Promise<ImageAnswer> => {
    const answer = await askReview(parts.target, clock, {
      body: Buffer.from(
        `{"kind":"${imageReviewKind}","apiVersion":"${apiVersion}","metadata":{},` +
          `"spec":${spec},"status":{"allowed":false}}`,
      ),
      decode: (body) => readImageAnswer(body, apiVersion),
      signal,
      timeoutMs: limits.clientCallTimeoutMs,
      retryFirstMs: policy.retryFirstMs,
    });
    kept.set(keyOf(spec), answer, answer.allowed ? policy.allowTtlMs : policy.denyTtlMs);
    return answer;
  };
  const judge = (request: AdmissionRequest, pod: Pod, answer: ImageAnswer): void => {
    for (const [key, value] of answer.auditAnnotations) request.annotate(prefix + key, value);
    if (answer.allowed) return;
    if (answer.reason === '') {
      throw refusal(request, pod, 'one or more images rejected by webhook backend');
    }
    const text = 'image policy webhook backend denied one or more images';
    throw refusal(request, pod, `${text}: ${answer.reason}`);
  };
  return {
    name,
    sideEffects: false,
    handles: handling({
      resource: 'pods',
      operations: ['CREATE', 'UPDATE'],
      subresources: ['', debugging],
    }),
    validate(request, pod, signal) {
      if (pod === undefined) return;
      const spec = specOf(request, pod, passedOn);
      const known = kept.get(keyOf(spec));
      if (known !== undefined) {
        judge(request, pod, known);
        return;
      }
      return ask(spec, signal).then(
        (answer) => judge(request, pod, answer),
        (error: unknown) => {
          if (!(error instanceof CallError)) throw error;
          const fields = { namespace: request.namespace, error: error.message };
          log.warn('the image policy webhook gives no answer', fields);
          if (!policy.isAllowedByDefault) throw refusal(request, pod, error.message);
          request.annotate(`${prefix}failed-open`, 'true');
        },
      );
    },
  };
}

/** JSON, the same for the same question. */
function specOf({ subresource, namespace }: AdmissionRequest, pod: Pod, passedOn: string): string {
  const lists = subresource === debugging ? ['ephemeralContainers'] : runningLists;
  const spec = recordAt(pod, 'spec');
  const containers = lists
    .flatMap((list) => recordsAt(spec, list))
    .map((container) => ({ image: textAt(container, 'image') }));
  const annotations = entriesAt(recordIn(pod, 'metadata'), 'annotations')
    .filter(([key]) => key.includes(passedOn))
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify({
    containers,
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    namespace,
  });
}

const runningLists = ['containers', 'initContainers'];

const keyOf = (spec: string): string =>
  spec.length <= limits.imageReviewKeyLengthMax
    ? spec
    : createHash('sha256').update(spec).digest('base64');
