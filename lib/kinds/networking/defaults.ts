// Defaults of network policies that depend on their rules.
import { isEmpty } from '../../api/default-rule.ts';
import type { DefaultRule, DefaultRules } from '../../api/default-rule.ts';

const networkPolicySpec: DefaultRule = {
  version: 1,
  complete(spec) {
    if (!isEmpty(spec['policyTypes'])) return;
    spec['policyTypes'] = isEmpty(spec['egress']) ? ['Ingress'] : ['Ingress', 'Egress'];
  },
};

export const networkPolicyDefaults: DefaultRules = {
  'networking/v1.NetworkPolicySpec': networkPolicySpec,
  'extensions/v1beta1.NetworkPolicySpec': networkPolicySpec,
};
