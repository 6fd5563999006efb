// Definitions near the largest request and objects of 1.4 MB of custom kinds, of hostile shapes:
// the CPU of each request, the longest turn of the event loop, and what it was answered; memory
// before and after. `custom-input 3 'enum|set'`: three rounds of the shapes whose names match.
import {
  definitionOf,
  definitionShapes,
  group,
  objectShapes,
  version,
} from '../hostile/custom-shapes.ts';
import type { JsonObject } from '../../lib/api/type-info.ts';
import { Connection, requestBytes } from '../support/http1-client.ts';
import { withBench } from '../support/server.ts';
import type { Target } from '../support/server.ts';

const roundCount = Number(process.argv[2] ?? 3);
const chosen = new RegExp(process.argv[3] ?? '');
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const profileTo = process.env['BENCH_PROFILE'];
const pollMs = 5;
const shownLength = 60;
const things = `/apis/${group}/v1/namespaces/default/things`;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly type?: string;
}
interface Seen {
  readonly status: number;
  readonly message: string;
  readonly cpuMs: number;
  readonly turnMs: number;
  readonly pollMs: number;
}

const least = new Map<string, Seen>();

await withBench(async (bench) => {
  const server = await bench.server();
  const before = await server.process.memory();
  const connection = await Connection.open(server.port, { keepBodies: true });
  const poller = await Connection.open(server.port);
  const measure = (name: string, request: Request) =>
    measured(server, { connection, poller }, name, request);
  const runRound = async (): Promise<void> => {
    for (const { name, body } of definitionShapes) {
      if (!chosen.test(`definition: ${name}`)) continue;
      const { status } = await measure(`definition: ${name}`, {
        ...{ method: 'POST', path: definitions, body: body() },
      });
      if (status === 201) await remove(connection, `shapes.${group}`, measure, name);
    }
    for (const { name, schema, specs } of objectShapes) {
      if (!chosen.test(`object: ${name}`)) continue;
      await send(connection, {
        ...{ method: 'POST', path: definitions },
        body: definitionOf('things', [version({ type: 'object', properties: { spec: schema } })]),
      });
      await served(connection);
      await writes(measure, name, specs());
      await remove(connection, `things.${group}`, measure, name);
    }
  };
  for (let round = 1; round < roundCount; round += 1) await runRound();
  if (profileTo === undefined) await runRound();
  else await server.process.profileOf(profileTo, runRound);
  for (const [name, seen] of least) print(name, seen);
  const after = await server.process.memory();
  const mega = 1024 * 1024;
  console.log(
    `heap MB ${(before.heapBytes / mega).toFixed(1)} → ${(after.heapBytes / mega).toFixed(1)}`,
  );
  console.log(
    `RSS MB ${(before.rssBytes / mega).toFixed(1)} → ${(after.rssBytes / mega).toFixed(1)}`,
  );
});

async function writes(
  measure: (name: string, request: Request) => Promise<Seen>,
  name: string,
  [first, second]: readonly [unknown, unknown],
): Promise<void> {
  const head = { apiVersion: `${group}/v1`, kind: 'Things' };
  const text = (spec: unknown, metadata: JsonObject = {}): string =>
    JSON.stringify({ ...head, metadata: { name: 'a', ...metadata }, spec });
  const path = `${things}/a`;
  await measure(`${name}: POST`, { method: 'POST', path: things, body: text(first) });
  await measure(`${name}: PUT of the same`, { method: 'PUT', path, body: text(first) });
  await measure(`${name}: PUT`, { method: 'PUT', path, body: text(second) });
  await measure(`${name}: merge patch of one`, {
    ...{ method: 'PATCH', path, type: 'application/merge-patch+json' },
    body: '{"metadata":{"labels":{"a":"b"}}}',
  });
  await measure(`${name}: merge patch`, {
    ...{ method: 'PATCH', path, type: 'application/merge-patch+json' },
    body: text(first),
  });
  await measure(`${name}: JSON patch`, {
    ...{ method: 'PATCH', path, type: 'application/json-patch+json' },
    body: JSON.stringify([{ op: 'replace', path: '/spec', value: second }]),
  });
  await measure(`${name}: apply`, {
    ...{ method: 'PATCH', path: `${path}?fieldManager=one&force=true` },
    ...{ type: 'application/apply-patch+yaml', body: text(first) },
  });
  await measure(`${name}: apply again`, {
    ...{ method: 'PATCH', path: `${path}?fieldManager=one&force=true` },
    ...{ type: 'application/apply-patch+yaml', body: text(second) },
  });
  await measure(`${name}: apply of another`, {
    ...{ method: 'PATCH', path: `${path}?fieldManager=two` },
    ...{ type: 'application/apply-patch+yaml', body: text(first) },
  });
  await measure(`${name}: POST, strict`, {
    ...{ method: 'POST', path: `${things}?fieldValidation=Strict&dryRun=All` },
    body: text(first, { name: 'b' }),
  });
  await measure(`${name}: POST of YAML`, {
    ...{ method: 'POST', path: `${things}?dryRun=All`, type: 'application/yaml' },
    body: yamlOf({ ...head, metadata: { name: 'c' }, spec: first }),
  });
  await measure(`${name}: GET`, { method: 'GET', path });
  await measure(`${name}: DELETE`, { method: 'DELETE', path });
}

/** JSON in YAML's flow style, which is no JSON: a comment begins it. */
function yamlOf(value: unknown): string {
  return `# YAML\n${JSON.stringify(value)}\n`;
}

async function measured(
  { process: server }: Target,
  connections: { readonly connection: Connection; readonly poller: Connection },
  name: string,
  request: Request,
): Promise<Seen> {
  const polling = poll(connections.poller);
  const { result, stalls } = await server.stallsOf(() =>
    server.cpuOf(async () => {
      const answer = await send(connections.connection, request);
      await new Promise((resolve) => setTimeout(resolve, 60)); // what follows a write
      return answer;
    }),
  );
  const worstMs = await polling.stop();
  const { status, message } = result.result;
  const seen = {
    ...{ status, message, cpuMs: result.micros / 1e3 },
    ...{ turnMs: stalls.cpuMaxMs, pollMs: worstMs },
  };
  if (process.env['CUSTOM_INPUT_EACH'] === '1') print(name, seen);
  const known = least.get(name);
  least.set(name, {
    ...seen,
    cpuMs: Math.min(seen.cpuMs, known?.cpuMs ?? Infinity),
    turnMs: Math.min(seen.turnMs, known?.turnMs ?? Infinity),
    pollMs: Math.min(seen.pollMs, known?.pollMs ?? Infinity),
  });
  return seen;
}

/** GETs /livez until it is stopped; gives the longest that one took. */
function poll(connection: Connection): { stop(): Promise<number> } {
  let isStopped = false;
  let worstMs = 0;
  const running = (async () => {
    while (!isStopped) {
      const sentMs = performance.now();
      await connection.request(requestBytes('GET', '/livez'));
      worstMs = Math.max(worstMs, performance.now() - sentMs);
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await running;
      return worstMs;
    },
  };
}

async function send(
  connection: Connection,
  { method, path, body, type = 'application/json' }: Request,
): Promise<{ readonly status: number; readonly message: string }> {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const headers = body === undefined ? [] : [`content-type: ${type}`];
  const answer = await connection.request(requestBytes(method, path, bytes, headers));
  const isFailure = answer.status > 299;
  return { status: answer.status, message: isFailure ? messageOf(answer.body) : '' };
}

function messageOf(body: Buffer | undefined): string {
  const text = body?.toString('utf8') ?? '';
  if (!text.startsWith('{')) return text;
  const { message } = JSON.parse(text) as { message?: string };
  return message ?? '';
}

async function served(connection: Connection): Promise<void> {
  for (;;) {
    const { status } = await send(connection, { method: 'GET', path: things });
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function remove(
  connection: Connection,
  name: string,
  measure: (name: string, request: Request) => Promise<Seen>,
  shape: string,
): Promise<void> {
  const path = `${definitions}/${name}`;
  await measure(`definition: ${shape}: GET`, { method: 'GET', path });
  await measure(`definition: ${shape}: DELETE`, { method: 'DELETE', path });
  for (;;) {
    const { status } = await send(connection, { method: 'GET', path });
    if (status === 404) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function print(name: string, { status, message, cpuMs, turnMs, pollMs: worst }: Seen): void {
  const mark = turnMs > 50 || cpuMs > 5_000 || status >= 500 ? '!' : ' ';
  const figures = [cpuMs, turnMs, worst].map((figure) => figure.toFixed(0).padStart(6)).join('');
  const shown = message.replaceAll('\n', ' ').slice(0, shownLength);
  console.log(`${mark}${name.padEnd(62)}${figures} ${String(status)} ${shown}`);
}
