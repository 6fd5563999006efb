// Definitions of custom resources as operators bring them: schemas of many described fields, rules,
// columns; and what tells that they are served.
import type { JsonObject } from '../../lib/api/type-info.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { Connection, requestBytes } from './http1-client.ts';
import type { Answer } from './http1-client.ts';

const naming = namingProfile('kubernetes');
const apiGroup = naming.resolve('apiextensions.{v}');
const rulesWord = `${naming.schemaExtensionPrefix}validations`;
export const definitionsPath = `/apis/${apiGroup}/v1/customresourcedefinitions`;

const words =
  'Tells what the operator does with this part when the object is reconciled, and how. ';

export interface DefinitionShape {
  /** Of the definition's JSON, at least; a few hundred more. */
  readonly bytes: number;
  readonly definitionsPerGroup?: number;
  readonly ruleCount?: number;
}

/** Number `index` of many; its kind is `Kind<index>`. */
export function definitionOf(index: number, shape: DefinitionShape): JsonObject {
  const { bytes, definitionsPerGroup = 20, ruleCount = 3 } = shape;
  const groups: JsonObject = {};
  for (let size = 600, at = 0; size < bytes; at++) {
    const part = partOf(at);
    groups[`part${String(at)}`] = part;
    size += JSON.stringify(part).length + 12;
  }
  const rules = Array.from({ length: ruleCount }, (_, at) => ({
    rule: `self.part0.name${String(at)}.size() < 200 && self.part0.count >= ${String(-at)}`,
    message: 'the part is too large',
  }));
  const spec = {
    type: 'object',
    properties: groups,
    required: ['part0'],
    ...(ruleCount > 0 ? { [rulesWord]: rules } : {}),
  };
  return definitionWith(
    { group: `g${String(Math.floor(index / definitionsPerGroup))}.bench.example.com` },
    { plural: `kind${String(index)}s`, kind: `Kind${String(index)}` },
    { type: 'object', properties: { spec, status: { type: 'object', properties: {} } } },
  );
}

/** About 1.5 KB. */
const partOf = (at: number): JsonObject => ({
  type: 'object',
  description: words.repeat(2),
  required: ['name0', 'name1', 'name2', 'count'],
  properties: {
    ...Object.fromEntries(
      Array.from({ length: 4 }, (_, index) => [
        `name${String(index)}`,
        { type: 'string', maxLength: 253, pattern: '^[a-z0-9-]*$', description: words },
      ]),
    ),
    count: { type: 'integer', format: 'int32', minimum: 0, default: at, description: words },
    list: {
      type: 'array',
      maxItems: 16,
      items: { type: 'string', maxLength: 63, enum: ['one', 'two', 'three'] },
      description: words,
    },
  },
});

export function definitionWith(
  { group }: { readonly group: string },
  { plural, kind }: { readonly plural: string; readonly kind: string },
  schema: JsonObject,
  more: JsonObject = {},
): JsonObject {
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
          ...more,
        },
      ],
    },
  };
}

export const nameOf = (definition: JsonObject): string =>
  (definition['metadata'] as { name: string }).name;

export const createBytes = (definition: JsonObject): Buffer =>
  requestBytes('POST', definitionsPath, Buffer.from(JSON.stringify(definition)));

/** The server closes connections on which nothing is asked for long. */
const idleMsMax = 5_000;

/** Asks one thing after the other. @throws Error for an answer of 300 or more but 304. */
export class Asker {
  readonly #port: number;
  #connection: Connection;
  #usedMs = performance.now();

  private constructor(port: number, connection: Connection) {
    this.#port = port;
    this.#connection = connection;
  }

  static async open(port: number): Promise<Asker> {
    return new Asker(port, await Connection.open(port, { keepBodies: true }));
  }

  async ask(bytes: Buffer): Promise<Answer> {
    if (performance.now() - this.#usedMs > idleMsMax) {
      this.#connection.close();
      this.#connection = await Connection.open(this.#port, { keepBodies: true });
    }
    const answer = await this.#connection.request(bytes);
    this.#usedMs = performance.now();
    if (answer.status > 299 && answer.status !== 304) {
      throw new Error(`status ${String(answer.status)}: ${String(answer.body)}`);
    }
    return answer;
  }

  /** Until it is established, asked without a pause in between. */
  async established(name: string): Promise<void> {
    const request = requestBytes('GET', `${definitionsPath}/${name}`);
    const condition =
      /"(?:type":"Established"[^}]*"status":"True"|status":"True"[^}]*"type":"Established")/;
    while (!condition.test(String((await this.ask(request)).body)));
  }

  /** How many resources discovery lists below `.bench.example.com`. */
  async discovered(): Promise<number> {
    const { body } = await this.ask(discoveryRequest());
    const { items = [] } = JSON.parse(String(body)) as { items?: DiscoveredGroup[] };
    return items
      .filter(({ metadata }) => metadata.name.endsWith('.bench.example.com'))
      .flatMap(({ versions }) => versions.map(({ resources }) => resources.length))
      .reduce((sum, count) => sum + count, 0);
  }

  close(): void {
    this.#connection.close();
  }
}

interface DiscoveredGroup {
  readonly metadata: { readonly name: string };
  readonly versions: readonly { readonly resources: readonly unknown[] }[];
}

/** The whole of discovery in one document. */
export function discoveryRequest(headers: readonly string[] = []): Buffer {
  const plain = requestBytes('GET', '/apis', undefined, headers).toString('latin1');
  const group = naming.resolve('apidiscovery.{v}');
  const accept = `accept: application/json;g=${group};v=v2;as=APIGroupDiscoveryList`;
  return Buffer.from(plain.replace('accept: application/json', accept), 'latin1');
}
