// The command: runs the workload against an API server, checks the history and says what it found.
// Exit code 0: no anomaly; 1: anomalies; 2: the run could not be done.

import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Access } from './api-client.ts';
import { checkHistory, type CheckOptions } from './checker.ts';
import type { History } from './history.ts';
import { newSeed } from './random.ts';
import { isSubject } from './subject.ts';
import { describeHistory } from './summary.ts';
import { startWorkload } from './workload.ts';

const USAGE = `node e2e/history/main.ts --server URL [--server URL…] [flags]
  --server URL           base URL of a replica; repeat it for several replicas of one service
  --token T              bearer token
  --cacert FILE          certificate authority of the servers; --insecure accepts any certificate
  --cert FILE --key FILE client certificate
  --seconds N            length of the run (10)
  --clients N            concurrent clients (6)
  --watchers N           concurrent watchers (2 for each server)
  --slow-watchers N      watchers that read slowly, beside the others (0)
  --names N              objects the clients contend for (6)
  --resource NAME        what they are: configmaps (default), events, or widgets, whose
                         definition there must be
  --padding-bytes N      size of the objects beside the data of the run (0)
  --pause-ms N           mean rest of a client between two requests (10)
  --seed S               choices of an earlier run
  --namespace NAME       where the objects are made (a new one for each run)
  --retention-seconds N  410 is an anomaly for history younger than this (60; 0: never)
  --delay-seconds N      how long an event may take to an open watch (10)
  --allow-stale-unset-watch  watches without resourceVersion may start from a cache
  --record FILE          keep the history
  --check FILE           only check a history kept before`;

const { values } = parseArgs({
  options: {
    server: { type: 'string', multiple: true, default: [] },
    token: { type: 'string' },
    cacert: { type: 'string' },
    insecure: { type: 'boolean', default: false },
    cert: { type: 'string' },
    key: { type: 'string' },
    seconds: { type: 'string', default: '10' },
    clients: { type: 'string' },
    watchers: { type: 'string' },
    'slow-watchers': { type: 'string' },
    names: { type: 'string' },
    resource: { type: 'string', default: 'configmaps' },
    'padding-bytes': { type: 'string' },
    'pause-ms': { type: 'string' },
    seed: { type: 'string', default: newSeed() },
    namespace: { type: 'string' },
    'retention-seconds': { type: 'string', default: '60' },
    'delay-seconds': { type: 'string', default: '10' },
    'allow-stale-unset-watch': { type: 'boolean', default: false },
    record: { type: 'string' },
    check: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function numberOf(flag: string, text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number >= 0) return number;
  throw new Error(`--${flag}: not a number: ${text}`);
}

function access(): Access {
  const { token, cacert, cert, key, insecure } = values;
  return {
    ...(token !== undefined && { token }),
    ...(cacert !== undefined && { ca: readFileSync(cacert, 'utf8') }),
    ...(cert !== undefined && { cert: readFileSync(cert, 'utf8') }),
    ...(key !== undefined && { key: readFileSync(key, 'utf8') }),
    isInsecure: insecure,
  };
}

function sizes(): Readonly<Record<string, number>> {
  const flags = {
    clients: 'clients',
    watchers: 'watchers',
    'slow-watchers': 'slowWatchers',
    names: 'names',
    'padding-bytes': 'paddingBytes',
    'pause-ms': 'pauseMs',
  } as const;
  const given: Record<string, number> = {};
  for (const [flag, option] of Object.entries(flags)) {
    const text = values[flag as keyof typeof flags];
    if (text !== undefined) given[option] = numberOf(flag, text);
  }
  return given;
}

async function record(): Promise<History> {
  const { server, seed, seconds, namespace, resource } = values;
  if (!isSubject(resource))
    throw new Error(`--resource: not configmaps, events or widgets: ${resource}`);
  if (server.length === 0) throw new Error('--server is missing; --help lists the flags');
  const durationMs = numberOf('seconds', seconds) * 1000;
  console.log(`seed ${seed}`);
  const workload = await startWorkload({
    servers: server,
    access: access(),
    seed,
    resource,
    ...(namespace !== undefined && { namespace }),
    ...sizes(),
  });
  await sleep(durationMs);
  return workload.stop();
}

async function run(): Promise<number> {
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const options: CheckOptions = {
    retentionMs: numberOf('retention-seconds', values['retention-seconds']) * 1000,
    watchDelayMaxMs: numberOf('delay-seconds', values['delay-seconds']) * 1000,
    isUnsetWatchCurrent: !values['allow-stale-unset-watch'],
  };
  const history =
    values.check === undefined
      ? await record()
      : (JSON.parse(readFileSync(values.check, 'utf8')) as History);
  if (values.record !== undefined) writeFileSync(values.record, JSON.stringify(history));
  console.log(describeHistory(history));
  const anomalies = checkHistory(history, options);
  for (const { kind, message } of anomalies.slice(0, 50)) console.log(`${kind}: ${message}`);
  console.log(`${anomalies.length} anomalies`);
  return anomalies.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
