// Columns of pods, and the words that sum up what their containers do.
import { flagAt, isSet, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { age, ageOf, at, column, name, tableOf, text, timeOf, wide } from '../../api/column.ts';
import type { Cell, TableColumns } from '../../api/type-info.ts';

type Pod = Readonly<JsonObject>;

interface Summary {
  readonly status: string;
  readonly ready: string;
  readonly restarts: Cell;
}

export const podColumns: TableColumns = {
  ...tableOf([
    name,
    column('Ready', 'string', () => null, 'Containers that are ready, of all that stay running.'),
    column('Status', 'string', () => null, 'What the pod as a whole is doing or waiting for.'),
    column('Restarts', 'string', () => null, 'How often containers were restarted, and when last.'),
    age,
    wide(column('IP', 'string', ipOf, 'Address of the pod.')),
    wide(column('Node', 'string', text('spec.nodeName', '<none>'), 'Node that runs the pod.')),
    wide(
      column(
        'Nominated Node',
        'string',
        text('status.nominatedNodeName', '<none>'),
        'Node on which others make room for the pod.',
      ),
    ),
    wide(column('Readiness Gates', 'string', gatesOf, 'Readiness gates that are passed, of all.')),
  ]),
  cells(pod) {
    const { status, ready, restarts } = summaryOf(pod);
    return [
      textAt(recordAt(pod, 'metadata'), 'name'),
      ready,
      status,
      restarts,
      age.fill(pod),
      ipOf(pod),
      textAt(recordAt(pod, 'spec'), 'nodeName') || '<none>',
      textAt(recordAt(pod, 'status'), 'nominatedNodeName') || '<none>',
      gatesOf(pod),
    ];
  },
  conditions(pod) {
    const phase = phaseOf(pod);
    if (!isEnded(phase)) return undefined;
    const message = 'The pod has run to its end.';
    return [{ type: 'Completed', status: 'True', reason: phase, message }];
  },
};

function ipOf(pod: Pod): string {
  const [first] = recordsAt(recordAt(pod, 'status'), 'podIPs');
  return textAt(first, 'ip') || textAt(recordAt(pod, 'status'), 'podIP') || '<none>';
}

function gatesOf(pod: Pod): string {
  const gates = recordsAt(recordAt(pod, 'spec'), 'readinessGates');
  if (gates.length === 0) return '<none>';
  const passed = gates.filter((gate) => hasCondition(pod, textAt(gate, 'conditionType')));
  return `${String(passed.length)}/${String(gates.length)}`;
}

const conditionOf = (pod: Pod, type: string): JsonObject | undefined =>
  recordsAt(recordAt(pod, 'status'), 'conditions').find((one) => textAt(one, 'type') === type);
const hasCondition = (pod: Pod, type: string): boolean =>
  textAt(conditionOf(pod, type), 'status') === 'True';
const phaseOf = (pod: Pod): string => textAt(recordAt(pod, 'status'), 'phase');
const isEnded = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';

/** Restarts and the latest of them. */
interface Restarts {
  count: number;
  lastMs: number;
}

const noRestarts = (): Restarts => ({ count: 0, lastMs: Number.NEGATIVE_INFINITY });

function addRestarts(total: Restarts, status: JsonObject): void {
  total.count += numberAt(status, 'restartCount') ?? 0;
  const finished = at(status, 'lastState.terminated.finishedAt');
  total.lastMs = Math.max(total.lastMs, timeOf(finished) ?? Number.NEGATIVE_INFINITY);
}

function restartsCell({ count, lastMs }: Restarts): Cell {
  if (count === 0 || lastMs === Number.NEGATIVE_INFINITY) return String(count);
  const time = new Date(lastMs).toISOString();
  return ageOf(time, `${String(count)} (`, ' ago)') ?? String(count);
}

function summaryOf(pod: Pod): Summary {
  const spec = recordAt(pod, 'spec');
  const status = recordAt(pod, 'status');
  const starting = startingOf(pod);
  let { readyCount, restarts } = starting;
  let reason = starting.reason ?? ownReason(pod);
  if (starting.reason === undefined || hasCondition(pod, 'Initialized')) {
    const running = runningOf(pod, reason, starting.stayingRestarts);
    ({ reason, restarts } = running);
    readyCount += running.readyCount;
  }
  if (isSet(recordAt(pod, 'metadata'), 'deletionTimestamp')) {
    if (textAt(status, 'reason') === 'NodeLost') reason = 'Unknown';
    else if (!isEnded(phaseOf(pod))) reason = 'Terminating';
  }
  const totalCount = recordsAt(spec, 'containers').length + starting.stayingCount;
  return {
    status: reason,
    ready: `${String(readyCount)}/${String(totalCount)}`,
    restarts: restartsCell(restarts),
  };
}

function ownReason(pod: Pod): string {
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (textAt(scheduled, 'reason') === 'SchedulingGated') return 'SchedulingGated';
  return textAt(recordAt(pod, 'status'), 'reason') || phaseOf(pod);
}

interface Starting {
  /** undefined: every init container has done its part. */
  readonly reason: string | undefined;
  readonly readyCount: number;
  /** Init containers that stay. */
  readonly stayingCount: number;
  readonly restarts: Restarts;
  readonly stayingRestarts: Restarts;
}

/** Init containers in their order, up to the first that is not done. */
function startingOf(pod: Pod): Starting {
  const specs = recordsAt(recordAt(pod, 'spec'), 'initContainers');
  const staying = new Set(
    specs
      .filter((one) => textAt(one, 'restartPolicy') === 'Always')
      .map((one) => textAt(one, 'name')),
  );
  const restarts = noRestarts();
  const stayingRestarts = noRestarts();
  let readyCount = 0;
  let reason: string | undefined;
  const statuses = recordsAt(recordAt(pod, 'status'), 'initContainerStatuses');
  for (const [index, status] of statuses.entries()) {
    const stays = staying.has(textAt(status, 'name'));
    addRestarts(restarts, status);
    if (stays) addRestarts(stayingRestarts, status);
    const state = recordAt(status, 'state');
    const ended = recordAt(state, 'terminated');
    if (ended !== undefined && numberAt(ended, 'exitCode') === 0) continue;
    if (stays && flagAt(status, 'started')) {
      if (flagAt(status, 'ready')) readyCount += 1;
      continue;
    }
    const waiting = textAt(recordAt(state, 'waiting'), 'reason');
    if (ended !== undefined) reason = `Init:${endReason(ended)}`;
    else if (waiting !== '' && waiting !== 'PodInitializing') reason = `Init:${waiting}`;
    else reason = `Init:${String(index)}/${String(specs.length)}`;
    break;
  }
  return { reason, readyCount, stayingCount: staying.size, restarts, stayingRestarts };
}

function endReason(ended: JsonObject): string {
  const reason = textAt(ended, 'reason');
  if (reason !== '') return reason;
  const signal = numberAt(ended, 'signal') ?? 0;
  if (signal !== 0) return `Signal:${String(signal)}`;
  return `ExitCode:${String(numberAt(ended, 'exitCode') ?? 0)}`;
}

interface Running {
  readonly reason: string;
  readonly readyCount: number;
  readonly restarts: Restarts;
}

/** The first container that waits or has ended speaks for the pod. */
function runningOf(pod: Pod, ownReason: string, staying: Restarts): Running {
  const restarts = { ...staying };
  let reason = ownReason;
  let failure: string | undefined;
  let isRunning = false;
  let readyCount = 0;
  const statuses = recordsAt(recordAt(pod, 'status'), 'containerStatuses');
  for (const status of [...statuses].reverse()) {
    addRestarts(restarts, status);
    const state = recordAt(status, 'state');
    const waiting = textAt(recordAt(state, 'waiting'), 'reason');
    const ended = recordAt(state, 'terminated');
    if (waiting !== '') {
      reason = waiting;
    } else if (ended !== undefined) {
      reason = endReason(ended);
      if ((numberAt(ended, 'exitCode') ?? 0) !== 0) failure = reason;
    } else if (flagAt(status, 'ready') && recordAt(state, 'running') !== undefined) {
      isRunning = true;
      readyCount += 1;
    }
  }
  if (reason === 'Completed') {
    if (isRunning && hasCondition(pod, 'Ready')) reason = 'Running';
    else if (failure !== undefined) reason = failure;
    else if (isRunning) reason = 'NotReady';
  }
  return { reason, readyCount, restarts };
}

/** Names or images of the containers in the pod spec at `path`. */
const containerTexts =
  (path: string, member: 'name' | 'image') =>
  (object: Readonly<JsonObject>): string => {
    const spec = recordAt({ spec: at(object, path) }, 'spec');
    return recordsAt(spec, 'containers')
      .map((container) => textAt(container, member))
      .join(',');
  };

/** The wide columns of kinds with a pod template. */
export const containerColumns = (path: string): ReturnType<typeof column>[] => [
  column('Containers', 'string', containerTexts(path, 'name'), 'Containers of the pod template.'),
  column('Images', 'string', containerTexts(path, 'image'), 'Images that the containers run.'),
];
