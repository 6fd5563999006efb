// Rules for a scheme whose kinds are what their description says, and nothing more.
import type { KindRules } from '../kind-rules.ts';

export const noKindRules: KindRules = { defaults: {}, conversions: {}, fieldReaders: {} };
