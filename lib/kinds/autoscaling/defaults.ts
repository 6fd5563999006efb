// Defaults of horizontal pod autoscalers in the version with metrics and behavior.
import { ensureRecord, fillUnset } from '../../api/default-rule.ts';
import type { DefaultRules } from '../../api/default-rule.ts';
import { isZero } from '../../api/presence.ts';

const wholeSizeIn15Seconds = { type: 'Percent', value: 100, periodSeconds: 15 };
const upPolicies = [{ type: 'Pods', value: 4, periodSeconds: 15 }, wholeSizeIn15Seconds];
const cpuAt80Percent = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};

export const autoscalerDefaults: DefaultRules = {
  'autoscaling/v2.HorizontalPodAutoscalerSpec': {
    version: 1,
    complete(spec) {
      if (isZero(spec['metrics'])) delete spec['metrics'];
      fillUnset(spec, { metrics: [cpuAt80Percent] });
    },
  },
  // Only reached where a behavior is given. Scaling down waits for the autoscaler's own window.
  'autoscaling/v2.HorizontalPodAutoscalerBehavior': {
    version: 1,
    complete(behavior) {
      const [up, down] = [ensureRecord(behavior, 'scaleUp'), ensureRecord(behavior, 'scaleDown')];
      for (const rules of [up, down]) if (isZero(rules['policies'])) delete rules['policies'];
      const selectPolicy = 'Max';
      fillUnset(up, { stabilizationWindowSeconds: 0, selectPolicy, policies: upPolicies });
      fillUnset(down, { selectPolicy, policies: [wholeSizeIn15Seconds] });
    },
  },
};
