// Whether somebody has approved a definition in a group of the product's own domains: an annotation
// says who, or that nobody has.
import { recordIn, textAt } from '../../api/json-access.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { parseRequestUri } from '../../base/request-uri.ts';
import type { Condition } from './conditions.ts';
import type { Holder } from '../validator.ts';

export interface Approval {
  /** The annotation's key. */
  readonly key: string;
  readonly value: string;
  /** `bypassed`: says that there is none. */
  readonly state: 'approved' | 'bypassed' | 'invalid' | 'missing';
  /** What is wrong; empty where nothing is. */
  readonly problem: string;
}

export function isProtectedGroup(group: string, naming: NamingProfile): boolean {
  const domains = [naming.resolve('{v}'), naming.metadataDomain];
  return domains.some((domain) => group === domain || group.endsWith(`.${domain}`));
}

export function approvalOf(definition: Holder, naming: NamingProfile): Approval {
  const key = naming.resolve('api-approved.{kubernetes}.io');
  const value = textAt(recordIn(definition, 'metadata', 'annotations'), key);
  const wanted = `protected groups must have approval annotation "${key}"`;
  const reading = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (value === '') {
    return { key, value, state: 'missing', problem: `${wanted}, ${reading}` };
  }
  if (value.startsWith('unapproved')) return { key, value, state: 'bypassed', problem: '' };
  if (isAbsoluteUrl(value)) return { key, value, state: 'approved', problem: '' };
  const problem = `${wanted} with either a URL or a reason starting with "unapproved", ${reading}`;
  return { key, value, state: 'invalid', problem };
}

function isAbsoluteUrl(text: string): boolean {
  const uri = parseRequestUri(text);
  return typeof uri !== 'string' && uri.scheme !== '' && uri.host !== '';
}

const conditionOf = {
  approved: ['True', 'ApprovedAnnotation'],
  bypassed: ['False', 'UnapprovedAnnotation'],
  missing: ['False', 'MissingAnnotation'],
  invalid: ['False', 'InvalidAnnotation'],
} as const;

/** Its condition; undefined: the group is nobody's business. */
export function approvalCondition(
  definition: Holder,
  naming: NamingProfile,
): Condition | undefined {
  if (!isProtectedGroup(textAt(recordIn(definition, 'spec'), 'group'), naming)) return undefined;
  const { state, value, problem } = approvalOf(definition, naming);
  const [status, reason] = conditionOf[state];
  const words = {
    approved: `approved in ${value}`,
    bypassed: `not approved: ${JSON.stringify(value)}`,
  };
  const message = state === 'approved' || state === 'bypassed' ? words[state] : problem;
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, reason, message };
}
