// Who approved a definition in a group of the product's own domains, as its annotation says.
import { recordIn, textAt } from '../../api/json-access.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { parseRequestUri } from '../../base/request-uri.ts';
import type { Holder } from '../validator.ts';
import type { Condition } from './conditions.ts';

const reading = 'see https://github.com/kubernetes/enhancements/pull/1111';

/** Its condition; undefined: the group is nobody's business. */
export function approvalCondition(
  definition: Holder,
  naming: NamingProfile,
): Condition | undefined {
  if (!isProtectedGroup(textAt(recordIn(definition, 'spec'), 'group'), naming)) return undefined;
  const key = naming.resolve('api-approved.{kubernetes}.io');
  const text = textAt(recordIn(definition, 'metadata', 'annotations'), key);
  const wanted = `protected groups must have approval annotation "${key}"`;
  const condition = (status: Condition['status'], reason: string, message: string): Condition => ({
    type: 'KubernetesAPIApprovalPolicyConformant',
    status,
    reason,
    message,
  });
  if (text === '') return condition('False', 'MissingAnnotation', `${wanted}, ${reading}`);
  if (text.startsWith('unapproved')) {
    return condition('False', 'UnapprovedAnnotation', `not approved: ${JSON.stringify(text)}`);
  }
  if (isUrl(text)) return condition('True', 'ApprovedAnnotation', `approved in ${text}`);
  const message = `${wanted} with either a URL or a reason starting with "unapproved", ${reading}`;
  return condition('False', 'InvalidAnnotation', message);
}

function isProtectedGroup(group: string, naming: NamingProfile): boolean {
  const own = [naming.resolve('{v}'), naming.resolve('{kubernetes}.io')];
  return own.some((domain) => group === domain || group.endsWith(`.${domain}`));
}

function isUrl(text: string): boolean {
  const uri = parseRequestUri(text);
  return typeof uri !== 'string' && uri.scheme !== '' && uri.host !== '';
}
