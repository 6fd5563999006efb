// Writes that are judged by webhooks which are real servers over TLS: what each was asked, and what
// became of the write.
import { cloneJson } from '../../../api/json-value.ts';
import type { JsonObject } from '../../../api/type-info.ts';
import { StatusError } from '../../../base/status.ts';
import { RawServer, answerText } from '../../../client/testing/raw-server.ts';
import type { ApiObject } from '../../../codec/codec.ts';
import { admissionChain } from '../../chain.ts';
import type { AdmissionRequest } from '../../plugin.ts';
import type { PluginParts } from '../../plugin-parts.ts';
import { asked, scheme } from '../../testing/asked.ts';
import { partsOf } from '../../testing/cluster.ts';
import type { Known } from '../../testing/cluster.ts';
import { mutatingWebhooks } from '../mutating-webhooks.ts';
import { validatingWebhooks } from '../validating-webhooks.ts';
import { caBundle } from './calling.ts';

/** The `request` of a review. */
export type Reviewed = JsonObject & {
  readonly uid: string;
  readonly object: ApiObject | null;
  readonly oldObject: ApiObject | null;
};

/** `response` of the answer, completed with what is right; or all of the body. */
type Answer = { readonly response: object } | { readonly body: string };
export type Answering = (request: Reviewed, review: JsonObject) => Answer;

export const allow: Answering = () => ({ response: { allowed: true } });
export const deny =
  (status?: object): Answering =>
  () => ({ response: { allowed: false, ...(status === undefined ? {} : { status }) } });
export const patching =
  (...operations: readonly object[]): Answering =>
  () => ({
    response: {
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
    },
  });
/** Adds a label. */
export const labelling =
  (key: string): Answering =>
  (request, review) => {
    const has = request.object?.metadata?.labels !== undefined;
    const path = has ? `/metadata/labels/${key}` : '/metadata/labels';
    return patching({ op: 'add', path, value: has ? '1' : { [key]: '1' } })(request, review);
  };

/** Webhooks by name; each keeps what it was asked. */
export class Hooks {
  readonly asked: { readonly name: string; readonly review: JsonObject; readonly head: string }[] =
    [];
  readonly #answers = new Map<string, Answering>();
  #server: RawServer | undefined;

  static async start(): Promise<Hooks> {
    const hooks = new Hooks();
    hooks.#server = await RawServer.start(({ head, body, socket }) => {
      const [, name = ''] = /^POST \/([^?]*)/.exec(head) ?? [];
      const review = JSON.parse(body) as JsonObject;
      const request = review['request'] as Reviewed;
      hooks.asked.push({ name, review, head });
      const answer = (hooks.#answers.get(name) ?? allow)(request, review);
      if ('body' in answer) {
        socket.write(answerText(answer.body));
        return;
      }
      const { kind, apiVersion } = review;
      const response = { uid: request.uid, ...answer.response };
      socket.write(answerText(JSON.stringify({ kind, apiVersion, response })));
    });
    return hooks;
  }

  /** Requests in the order in which they were asked. */
  requestsOf(name: string): readonly Reviewed[] {
    return this.asked
      .filter((one) => one.name === name)
      .map(({ review }) => review['request'] as Reviewed);
  }

  /** A webhook for everything, as a configuration has it, but for what `change` says. */
  async webhook(name: string, answering: Answering = allow, change: object = {}): Promise<object> {
    this.#answers.set(name, answering);
    return {
      name,
      clientConfig: {
        url: `https://127.0.0.1:${String(this.#server?.port)}/${name}`,
        caBundle: await caBundle(),
      },
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 10,
      reinvocationPolicy: 'Never',
      ...change,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }
}

export interface Judged {
  /** `403 text`; undefined: it was admitted. */
  readonly refused: StatusError | undefined;
  readonly object: ApiObject;
  readonly warnings: readonly string[];
  readonly annotations: ReadonlyMap<string, string>;
}

/** Lists of webhooks, one for each configuration. */
export interface Configured extends Known {
  readonly mutating?: Readonly<Record<string, readonly object[]>>;
  readonly validating?: Readonly<Record<string, readonly object[]>>;
  /** Plugins that run before the webhooks in each pass. */
  readonly first?: Parameters<typeof admissionChain>[0];
}

const configurations = (
  named: Readonly<Record<string, readonly object[]>> = {},
): readonly object[] =>
  Object.entries(named).map(([name, webhooks]) => ({ metadata: { name, uid: name }, webhooks }));

export type Judge = (
  object: object,
  change?: Partial<Omit<AdmissionRequest, 'old'>> & { readonly old?: object },
) => Promise<Judged>;

/** Mutates and validates as a write does. */
export function judging(configured: Configured): Judge {
  const parts: PluginParts = {
    ...partsOf({
      ...configured,
      memory: {
        ...configured.memory,
        mutatingwebhookconfigurations: configurations(configured.mutating),
        validatingwebhookconfigurations: configurations(configured.validating),
      },
    }),
    served: {
      ...partsOf({}).served,
      equivalentsOf: ({ storagePrefix }) =>
        scheme.resources.filter((one) => one.storagePrefix === storagePrefix),
    },
  };
  const plugins = [...(configured.first ?? []), mutatingWebhooks(parts), validatingWebhooks(parts)];
  const chain = admissionChain(plugins);
  const { signal } = new AbortController();
  return async (given, change = {}) => {
    const { request, warnings, annotations } = asked({
      ...change,
      old: change.old as ApiObject | undefined,
    });
    const { kind, apiVersion } = formOf(request);
    const object = { kind, apiVersion, ...cloneJson(given as ApiObject) } as ApiObject;
    try {
      if (request.operation === 'DELETE') await chain.beforeDelete(request, signal);
      else await chain.mutate(request, object, signal);
      const judged = request.operation === 'DELETE' ? undefined : object;
      await chain.validate(request, judged, signal);
      return { refused: undefined, object, warnings, annotations };
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return { refused: error, object, warnings, annotations };
    }
  };
}

function formOf({ form }: AdmissionRequest): {
  readonly kind: string;
  readonly apiVersion: string;
} {
  const { group, version, kind } = form.kind;
  return { kind, apiVersion: group === '' ? version : `${group}/${version}` };
}
