import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import {
  cellsOf,
  columnsOf,
  day,
  dayAgo,
  holds,
  metadata,
  minuteAgo,
  scheme,
} from '../testing/shown-cells.ts';

const state = (name: string, more: object, of = 'state'): JsonObject => ({
  name,
  restartCount: 0,
  [of]: more as JsonObject,
});
const running = (name: string, restartCount = 0): JsonObject => ({
  ...state(name, { running: {} }),
  ready: true,
  started: true,
  restartCount,
});
const ended = (name: string, terminated: object): JsonObject => state(name, { terminated });
const waiting = (name: string, reason: string): JsonObject => state(name, { waiting: { reason } });
describe('a pod', () => {
  const containers = [{ name: 'c' }, { name: 'd' }];
  const initContainers = [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }];
  const pod = (status: JsonObject, spec: JsonObject = {}, meta: JsonObject = {}): unknown[] =>
    cellsOf('core/v1.Pod', {
      metadata: { ...metadata, ...meta },
      spec: { containers, ...spec },
      status,
    }).slice(1, 4);
  const phase = 'Running';
  const done = { exitCode: 0, reason: 'Completed' };
  test.each<[string, unknown[], unknown[]]>([
    ['pending', pod({ phase: 'Pending' }), ['0/2', 'Pending', '0']],
    [
      'running',
      pod({ phase, containerStatuses: [running('c'), running('d')] }),
      ['2/2', 'Running', '0'],
    ],
    [
      'that was restarted',
      pod({
        phase,
        containerStatuses: [
          { ...running('c', 2), lastState: { terminated: { finishedAt: dayAgo } } },
          { ...running('d', 1), lastState: { terminated: { finishedAt: minuteAgo } } },
        ],
      }),
      ['2/2', 'Running', '3 (~1m ago)'],
    ],
    [
      'in a crash loop',
      pod({ phase, containerStatuses: [waiting('c', 'CrashLoopBackOff'), running('d')] }),
      ['1/2', 'CrashLoopBackOff', '0'],
    ],
    [
      'killed by a signal',
      pod({ phase, containerStatuses: [ended('c', { exitCode: 137, signal: 9 }), running('d')] }),
      ['1/2', 'Signal:9', '0'],
    ],
    [
      'that failed',
      pod({ phase: 'Failed', containerStatuses: [ended('c', { exitCode: 3 })] }),
      ['0/2', 'ExitCode:3', '0'],
    ],
    [
      'of which one container has ended and one is ready',
      pod({
        phase,
        conditions: [holds('Ready')],
        containerStatuses: [ended('c', done), running('d')],
      }),
      ['1/2', 'Running', '0'],
    ],
    [
      'of which one container has ended and one runs, not ready as a whole',
      pod({ phase, containerStatuses: [ended('c', done), running('d')] }),
      ['1/2', 'NotReady', '0'],
    ],
    [
      'of which one container has ended well and one has not',
      pod({
        phase,
        containerStatuses: [ended('c', done), ended('d', { exitCode: 1, reason: 'Error' })],
      }),
      ['0/2', 'Error', '0'],
    ],
    [
      'that runs its first init container',
      pod(
        { phase: 'Pending', initContainerStatuses: [state('i', { running: {} })] },
        { initContainers },
      ),
      ['0/3', 'Init:0/2', '0'],
    ],
    [
      'whose init container waits',
      pod(
        { phase: 'Pending', initContainerStatuses: [waiting('i', 'ImagePullBackOff')] },
        { initContainers },
      ),
      ['0/3', 'Init:ImagePullBackOff', '0'],
    ],
    [
      'whose init container failed',
      pod(
        { phase: 'Pending', initContainerStatuses: [ended('i', { exitCode: 2 })] },
        { initContainers },
      ),
      ['0/3', 'Init:ExitCode:2', '0'],
    ],
    [
      'with an init container that stays',
      pod(
        {
          phase,
          initContainerStatuses: [ended('i', { exitCode: 0 }), running('s', 4)],
          containerStatuses: [running('c'), running('d')],
        },
        { initContainers },
      ),
      ['3/3', 'Running', '4'],
    ],
    [
      'that waits for its gates',
      pod({
        phase: 'Pending',
        conditions: [holds('PodScheduled', 'False', { reason: 'SchedulingGated' })],
      }),
      ['0/2', 'SchedulingGated', '0'],
    ],
    ['that ends', pod({ phase }, {}, { deletionTimestamp: dayAgo }), ['0/2', 'Terminating', '0']],
    [
      'that has ended and is deleted',
      pod({ phase: 'Succeeded' }, {}, { deletionTimestamp: dayAgo }),
      ['0/2', 'Succeeded', '0'],
    ],
    [
      'on a lost node',
      pod({ phase, reason: 'NodeLost' }, {}, { deletionTimestamp: dayAgo }),
      ['0/2', 'Unknown', '0'],
    ],
    ['that was evicted', pod({ phase: 'Failed', reason: 'Evicted' }), ['0/2', 'Evicted', '0']],
  ])('%s', (_claim, cells, expected) => {
    expect(cells).toEqual(expected);
  });

  test('shows address, node and gates in wide output', () => {
    const cells = cellsOf('core/v1.Pod', {
      spec: { nodeName: 'x', readinessGates: [{ conditionType: 'G' }, { conditionType: 'H' }] },
      status: { podIPs: [{ ip: '10.0.0.1' }], conditions: [holds('G')] },
    });
    expect(cells.slice(4)).toEqual([day, '10.0.0.1', 'x', '<none>', '1/2']);
    expect(cellsOf('core/v1.Pod', {}).slice(5)).toEqual(['<none>', '<none>', '<none>', '<none>']);
  });

  test.each(['Succeeded', 'Failed'])('that has %s has a row condition', (reason) => {
    const { conditions } = columnsOf(scheme.type('core/v1.Pod'));
    const expected = { type: 'Completed', status: 'True', reason };
    expect(conditions?.({ status: { phase: reason } })).toMatchObject([expected]);
    expect(conditions?.({ status: { phase: 'Running' } })).toBeUndefined();
  });
});
