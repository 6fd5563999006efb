import { describe, expect, test } from '@jest/globals';
import type { Decision } from './authorizer.ts';
import { attributesOf } from './testing/attributes.ts';
import { unionAuthorizer } from './union.ts';

const signal = new AbortController().signal;

describe.each([
  ['at once', (decision: Decision) => decision],
  ['later', (decision: Decision) => Promise.resolve(decision)],
])('a union of members that answer %s', (_name, answer) => {
  test.each([
    [[], 'noOpinion', ''],
    [['noOpinion'], 'noOpinion', 'r0'],
    [['noOpinion', 'allow', 'deny'], 'allow', 'r1'],
    [['noOpinion', 'deny', 'allow'], 'deny', 'r1'],
    [['noOpinion', 'noOpinion'], 'noOpinion', 'r0, r1'],
  ] as [Decision['effect'][], Decision['effect'], string][])(
    '%j decides %s',
    async (effects, effect, reason) => {
      const members = effects.map((one, index) => ({
        name: String(index),
        authorize: () => answer({ effect: one, reason: `r${String(index)}` }),
      }));
      expect(await unionAuthorizer(members).authorize(attributesOf(), signal)).toEqual({
        effect,
        reason,
      });
    },
  );
});
