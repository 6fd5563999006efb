// What configurations of admission webhooks are completed with, and refused for.
import { expect, test } from '@jest/globals';
import { namingProfile } from '../api/vendor.ts';
import type { ApiObject } from '../codec/codec.ts';
import { builtInScheme, kindStrategies } from '../kinds/built-in-kinds.ts';
import type { WriteContext } from '../kinds/strategy.ts';
import { defaultValidation, storedRules } from './validation.ts';

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const strategies = kindStrategies({ naming, eventTtlSeconds: 1 });
const context: WriteContext = {
  user: { name: 'u', uid: '', groups: [], extra: {} },
  ...{ dryRun: false, fieldManager: '', subresource: '', warnings: [], nowMs: 0 },
  apiVersion: 'admissionregistration.svc.io/v1',
};

test.each([
  [undefined, 10, []],
  [1, 1, []],
  [30, 30, []],
  [0, 0, ['webhooks[0].timeoutSeconds']],
  [31, 31, ['webhooks[0].timeoutSeconds']],
])(
  'n.webhookTimeout: %s is %d seconds, refused at %j',
  async (timeoutSeconds, completed, refused) => {
    for (const plural of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']) {
      const resource = scheme.storedResource('admissionregistration.svc.io', plural);
      if (resource === undefined) throw new Error(`no ${plural}`);
      const webhook = {
        name: 'hook.example.com',
        clientConfig: { url: 'https://example.com/' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
      };
      const object: ApiObject = { metadata: { name: 'c' }, webhooks: [webhook] };
      scheme.defaults.apply(object, resource.type);
      expect(object['webhooks']).toMatchObject([{ timeoutSeconds: completed }]);
      const rules = storedRules(resource, strategies(resource), defaultValidation);
      const found = await rules.validate(object, undefined, context, []);
      expect(found.map(({ field }) => field)).toEqual(refused);
    }
  },
);
