// Attacks by what stands before the body: paths, queries, methods, headers, none like another.
import { repeat, textOf } from './attacker.ts';
import type { Attack } from './attacker.ts';

const pods = '/api/v1/pods';
/** A query that fills a request's head nearly to its limit. */
const padding = 50_000;

const unknownPaths: Attack = {
  name: 'paths of nothing',
  run: (attacker, round) =>
    repeat(2_000, (index) => {
      const mark = textOf(60, round, index);
      const paths = [
        `/${mark}`,
        `/api/v1/${mark}`,
        `/apis/${mark}/v1/pods`,
        `/api/v1/namespaces/${mark}/pods/x/${mark}`,
        `/apis/apps/${mark}/deployments`,
        `/openapi/v3/apis/${mark}`,
        `/${mark}/${'y'.repeat(padding)}`,
        `/livez/${mark}?exclude=${mark}&verbose`,
      ];
      return attacker.send({ path: paths[index % paths.length] ?? '/' });
    }),
};

/** Every collection by every verb, each with a query of its own. */
const paddedPaths: Attack = {
  name: 'long queries',
  run(attacker, round) {
    const { collections } = attacker.victim;
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;
    return repeat(collections.length * methods.length, (index) => {
      const collection = collections[Math.floor(index / methods.length)] ?? pods;
      const method = methods[index % methods.length] ?? 'GET';
      // Deletion of a collection would work.
      const isItem = method === 'DELETE' || (round + index) % 2 === 0;
      const item = isItem ? `/${textOf(30, 'none', round)}` : '';
      const dryRun = round % 2 === 0 ? 'dryRun=All&' : '';
      const path = `${collection}${item}?${dryRun}limit=1&pad=${textOf(padding, round, index)}`;
      return attacker.send({ method, path });
    });
  },
};

/** What is made once, asked for in every form. */
const documents: Attack = {
  name: 'documents',
  run: (attacker, round) =>
    repeat(100, (index) => {
      const mark = textOf(60, round, index);
      const paths = ['/apis', '/api', '/metrics', '/openapi/v3', '/openapi/v2'];
      const accepts = [
        'application/json',
        'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
        'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
        'application/yaml',
      ];
      const path = index % 3 === 0 ? '/openapi/v3/apis/apps/v1' : paths[index % paths.length];
      const accept = accepts[index % accepts.length] ?? '';
      const headers = { accept, 'if-none-match': `"${mark}"`, 'accept-encoding': 'gzip' };
      return attacker.send({ path: `${path ?? ''}?hash=${mark}`, headers });
    }),
};

const identities: Attack = {
  name: 'agents, audit ids, methods',
  async run(attacker, round) {
    await repeat(1_500, (index) => {
      const mark = textOf(60, round, index);
      const headers = { 'user-agent': mark, 'audit-id': mark, 'x-forwarded-for': mark };
      return attacker.send({ path: '/api/v1/namespaces/default', headers });
    });
    const session = await attacker.http2();
    await repeat(500, async (index) => {
      const method = textOf(40, 'verb', round, index);
      const stream = session?.request({
        ':method': method,
        ':path': pods,
        authorization: `Bearer ${attacker.victim.token}`,
      });
      stream
        ?.on('error', () => undefined)
        .resume()
        .end();
      await new Promise((resolve) =>
        stream === undefined ? resolve(0) : stream.once('close', resolve),
      );
    });
    session?.destroy();
  },
};

/** Answers are negotiated by resource and shape. */
const accepts: Attack = {
  name: 'Accept headers',
  run(attacker, round) {
    const { collections } = attacker.victim;
    return repeat(collections.length * 70, (index) => {
      const collection = collections[index % collections.length] ?? pods;
      const mark = textOf(200, 'a/b;c=d', round, index);
      const accept = index % 10 === 0 ? mark.repeat(100) : `${mark}, application/json`;
      return attacker.send({ path: `${collection}?limit=1`, headers: { accept } });
    });
  },
};

const tokens: Attack = {
  name: 'bad tokens',
  run: (attacker, round) =>
    repeat(1_000, (index) => {
      const token = textOf(index % 10 === 0 ? padding : 1_000, 'token', round, index);
      const encoded = Buffer.from(token.slice(0, 200)).toString('base64url');
      const shapes = [
        { authorization: `Bearer ${token}` },
        { authorization: `Basic ${token}` },
        { 'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${encoded}` },
      ];
      const headers = { authorization: '', ...shapes[index % shapes.length] };
      return attacker.send({ path: pods, headers });
    }),
};

const selectors: Attack = {
  name: 'selectors',
  run: (attacker, round) =>
    repeat(600, (index) => {
      const mark = textOf(30, 'v', round, index).replaceAll('-', '.');
      const values = Array.from({ length: 1_200 }, (_, at) => `${mark}${String(at)}`);
      const labels = `labelSelector=app+in+(${values.join()})`;
      const queries = [
        labels,
        `labelSelector=${mark}`,
        `fieldSelector=spec.nodeName=${mark}`,
        `fieldSelector=metadata.name=${mark},status.phase!=${mark}`,
        `fieldSelector=${mark}=x`,
        `labelSelector=${'('.repeat(20_000)}`,
      ];
      return attacker.send({ path: `${pods}?limit=5&${queries[index % queries.length] ?? ''}` });
    }),
};

const positions: Attack = {
  name: 'forged tokens and versions',
  run: (attacker, round) =>
    repeat(900, (index) => {
      const forged = Buffer.from(textOf(300, round, index)).toString('base64url');
      // Of a revision to come the server waits a while.
      const version = index % 30 === 3 ? '4000000000' : '1';
      const queries = [
        `continue=${forged}`,
        `limit=1&continue=${forged}${'x'.repeat(20_000)}`,
        `resourceVersion=${version}x`,
        `resourceVersion=${version}&resourceVersionMatch=Exact`,
        `limit=3&resourceVersionMatch=${forged}`,
        `watch=1&resourceVersion=${version}${'0'.repeat(20)}`,
      ];
      return attacker.send({ path: `${pods}?${queries[index % queries.length] ?? ''}` });
    }),
};

const headers: Attack = {
  name: 'huge headers',
  run: (attacker, round) =>
    repeat(300, (index) => {
      const mark = textOf(40, 'x', round, index);
      if (index % 3 === 0) {
        return attacker.send({ path: pods, headers: { [mark]: 'y'.repeat(80_000) } });
      }
      const count = index % 3 === 1 ? 190 : 1_000;
      const many = Array.from({ length: count }, (_, at) => [
        `${mark}${String(at)}`,
        textOf(200, at, round),
      ]);
      return attacker.send({
        path: '/api/v1/namespaces/default',
        headers: Object.fromEntries(many) as Record<string, string>,
      });
    }),
};

export const heads: readonly Attack[] = [
  unknownPaths,
  paddedPaths,
  documents,
  identities,
  accepts,
  tokens,
  selectors,
  positions,
  headers,
];
