// Defaults of network policies that depend on their rules.
import type { DefaultRule, DefaultRules } from '../../api/default-rule.ts';
import { isZero } from '../../api/presence.ts';

const networkPolicySpec: DefaultRule = {
  version: 1,
  complete(spec) {
    if (!isZero(spec['policyTypes'])) return;
    spec['policyTypes'] = isZero(spec['egress']) ? ['Ingress'] : ['Ingress', 'Egress'];
  },
};

export const networkPolicyDefaults: DefaultRules = {
  'networking/v1.NetworkPolicySpec': networkPolicySpec,
  'extensions/v1beta1.NetworkPolicySpec': networkPolicySpec,
};
