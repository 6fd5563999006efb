// Kinds of three versions that a webhook of a real definition converts, served over HTTP: `v1` has
// spec.color and spec.size, `v2` spec.paint and spec.count, `v3` spec.tint and spec.count for the
// same things. For suites.
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { openStored } from '../../codec/stored-form.ts';
import { ConversionServer } from '../../crd/conversion/testing/conversion-server.ts';
import type { AnswerReview } from '../../crd/conversion/testing/conversion-server.ts';
import { colorFields, movedColor } from '../../registry/testing/mixed-store.ts';
import type { VersionName } from '../../registry/testing/mixed-store.ts';
import { keyspace } from '../../registry/testing/registry-on-etcd.ts';
import { fresh } from '../../registry/testing/verb-driver.ts';
import type { Sent } from '../../registry/testing/verb-driver.ts';
import type { ApiAnswer, SentRequest } from './api-on-etcd.ts';
import { customPath, startCustomApi } from './custom-api.ts';
import type { CustomApi } from './custom-api.ts';
import { OpenWatch } from './open-watch.ts';

export const versionNames = ['v1', 'v2', 'v3'] as const;
export const sizeFields = { v1: 'size', v2: 'count', v3: 'count' } as const;
const definitions = '/apis/apiextensions.svc.io/v1/customresourcedefinitions';

/** What a good webhook makes of one of them. */
export function movedCrate(object: Readonly<ApiObject>, toApiVersion: string): ApiObject {
  const [from, to] = [object.apiVersion, toApiVersion].map(
    (version) => sizeFields[(version ?? '').split('/')[1] as VersionName],
  );
  const moved = movedColor(object, toApiVersion);
  const spec = { ...(moved['spec'] as JsonObject) };
  const { [from ?? '']: size, ...rest } = spec;
  return { ...moved, spec: size === undefined ? rest : { ...rest, [to ?? '']: size } };
}

export const convertedCrates: AnswerReview = ({ kind, apiVersion, request }) => ({
  ...{ kind, apiVersion },
  response: {
    uid: request.uid,
    result: { status: 'Success' },
    convertedObjects: request.objects.map((one) => movedCrate(one, request.desiredAPIVersion)),
  },
});

const text = { type: 'string' };
const whole = { type: 'integer' };

/** As a definition has it. */
export function crateVersion(name: VersionName): JsonObject {
  const [color, size] = [colorFields[name], sizeFields[name]];
  const status = { type: 'object', properties: { phase: text, n: whole } };
  const spec = {
    type: 'object',
    properties: { [color]: text, [size]: whole, note: text, a: text, b: text, c: text },
  };
  const scale = { specReplicasPath: `.spec.${size}`, statusReplicasPath: '.status.n' };
  return JSON.parse(
    JSON.stringify({
      name,
      served: true,
      storage: false,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
      subresources: { status: {}, scale },
      additionalPrinterColumns: [{ name: color, type: 'string', jsonPath: `.spec.${color}` }],
      selectableFields: [{ jsonPath: `.spec.${color}` }],
    }),
  ) as JsonObject;
}

export const conversionBy = ({ url, caBundle }: ConversionServer): JsonObject => ({
  strategy: 'Webhook',
  webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: ['v1'] },
});

export interface CratesOptions {
  /** Default: v1. */
  readonly storage?: VersionName;
  /** Default: the webhook of the suite. */
  readonly hook?: ConversionServer;
}

export class ConvertedApi {
  readonly served: CustomApi;
  readonly hook: ConversionServer;

  private constructor(served: CustomApi, hook: ConversionServer) {
    this.served = served;
    this.hook = hook;
  }

  static async start(): Promise<ConvertedApi> {
    const hook = await ConversionServer.start();
    hook.answer = convertedCrates;
    return new ConvertedApi(await startCustomApi(), hook);
  }

  async stop(): Promise<void> {
    await this.served.stop();
    await this.hook[Symbol.asyncDispose]();
  }

  /** The webhook is as good as new. */
  mend(): void {
    this.hook.answer = convertedCrates;
    this.hook.reviews.length = 0;
  }

  /** `count version` of each call of the webhook since it was mended. */
  get calls(): string[] {
    return this.hook.reviews.map(
      ({ request: { objects, desiredAPIVersion } }) =>
        `${String(objects.length)} ${desiredAPIVersion.split('/')[1] ?? ''}`,
    );
  }

  /** Defines a kind that no other test has. */
  async define({ storage = 'v1', hook = this.hook }: CratesOptions = {}): Promise<Crates> {
    const plural = `${fresh()}crates`;
    const crates = new Crates(this, plural);
    await this.served.custom.define({
      plural,
      versions: [{ name: 'v1' }],
      more: {
        versions: versionNames.map((name) => ({
          ...crateVersion(name),
          storage: name === storage,
        })),
        conversion: conversionBy(hook),
      },
    });
    return crates;
  }
}

/** The objects of one such kind, and its definition. */
export class Crates {
  readonly plural: string;
  readonly kind: string;
  readonly #api: ConvertedApi;

  constructor(api: ConvertedApi, plural: string) {
    this.#api = api;
    this.plural = plural;
    this.kind = plural.replace(/s$/, '').replace(/^./, (first) => first.toUpperCase());
  }

  get definition(): string {
    return `${definitions}/${this.plural}.example.com`;
  }

  path(version: VersionName, name = ''): string {
    return customPath(this.plural, name, version);
  }

  /** `spec` as v1 has it. */
  body(version: VersionName, name: string, spec: object, metadata: object = {}): ApiObject {
    const inV1 = { kind: this.kind, apiVersion: 'example.com/v1', metadata: { name, ...metadata } };
    return movedCrate({ ...inV1, spec } as ApiObject, `example.com/${version}`);
  }

  make(name: string, spec: object = { color: 'red', size: 3 }, metadata = {}): Promise<Sent> {
    return this.write('v1', name, spec, metadata);
  }

  /** `spec` as v1 has it, sent in any version. */
  write(version: VersionName, name: string, spec: object, metadata = {}): Promise<Sent> {
    const body = this.body(version, name, spec, metadata);
    return this.#api.served.answered(`POST ${this.path(version)}`, { body });
  }

  get(version: VersionName, name: string): Promise<Sent> {
    return this.#api.served.answered(`GET ${this.path(version, name)}`);
  }

  patch(version: VersionName, name: string, body: object): Promise<Sent> {
    return this.#api.served.answered(`PATCH ${this.path(version, name)}`, { body });
  }

  /** Names of a list, with its items. */
  async list(version: VersionName, query = ''): Promise<readonly Sent[]> {
    const { items } = await this.#api.served.answered(`GET ${this.path(version)}?${query}`);
    return items as readonly Sent[];
  }

  send(line: string, sent?: SentRequest): Promise<ApiAnswer> {
    return this.#api.served.send(line, sent);
  }

  watch(version: VersionName, query = '', accept?: string): Promise<OpenWatch> {
    return OpenWatch.open(this.#api.served.api.server, `${this.path(version)}?${query}`, accept);
  }

  /** The object as etcd has it. */
  async inEtcd(name: string): Promise<Sent> {
    const { storage } = this.#api.served.custom.replica;
    const key = keyspace.key(`example.com/${this.plural}`, 'ns', name);
    const { item } = await storage.get(key, AbortSignal.timeout(10_000));
    const opened = openStored(item?.value ?? new Uint8Array());
    return JSON.parse(Buffer.from(opened?.payload ?? '').toString()) as Sent;
  }

  /** Writes another spec of the definition. */
  async redefine(change: (spec: JsonObject, versions: JsonObject[]) => void): Promise<Sent> {
    return this.#api.served.custom.redefine(`${this.plural}.example.com`, (spec) =>
      change(spec, spec['versions'] as JsonObject[]),
    );
  }

  /** New bytes are written in this version. */
  storeIn(storage: VersionName): Promise<Sent> {
    return this.redefine((_spec, versions) => {
      for (const version of versions) version['storage'] = version['name'] === storage;
    });
  }

  /** The version alone is served or not. */
  serve(name: VersionName, served: boolean): Promise<Sent> {
    return this.redefine((_spec, versions) => {
      for (const version of versions) if (version['name'] === name) version['served'] = served;
    });
  }

  async storedVersions(): Promise<unknown> {
    const { status } = await this.#api.served.answered(`GET ${this.definition}`);
    return (status as { readonly storedVersions?: unknown }).storedVersions;
  }
}
