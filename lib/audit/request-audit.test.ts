import { expect, test } from '@jest/globals';
import { ManualClock } from '../base/testing/manual-clock.ts';
import type { AuditEvent } from './event.ts';
import { RequestAudit } from './request-audit.ts';
import { CountingObserver } from './testing/recorder.ts';

const keys = { decision: 'decision', reason: 'reason', latency: 'latency' };

test.each([
  [500, 300, 100, {}],
  [501, 0, 0, { 'latency/total': '501ms' }],
  [
    2_500,
    1_200.5,
    70,
    {
      'latency/total': '2.5s',
      'latency/mutating-webhook': '1.2005s',
      'latency/validating-webhook': '70ms',
    },
  ],
])(
  'h.audit-latency: %d ms, of which webhooks took %d and %d',
  async (totalMs, mutatingMs, validatingMs, annotations) => {
    const events: AuditEvent[] = [];
    const backend = {
      process: (event: AuditEvent) => events.push(event) > 0,
      close: () => Promise.resolve(),
    };
    const clock = new ManualClock();
    const record = new RequestAudit(
      { backend, clock, observer: new CountingObserver(), keys },
      {
        outcome: { level: 'Metadata', omittedStages: new Set(), omitsManagedFields: false },
        request: {
          verb: 'create',
          isResourceRequest: true,
          ...{ group: '', version: 'v1', resource: 'pods', subresource: '' },
          ...{ namespace: 'a', name: 'x', path: '/api/v1/namespaces/a/pods' },
        },
        user: {},
        facts: { auditId: 'a', requestUri: '/', userAgent: '', sourceIps: [], receivedAtMs: 0 },
      },
    );
    clock.pass(totalMs);
    record.took({ mutatingMs, validatingMs });
    await record.reach('ResponseComplete', 201);
    expect(Object.fromEntries(events[0]?.fields.annotations ?? [])).toEqual(annotations);
  },
);
