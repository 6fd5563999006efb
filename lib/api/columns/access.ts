// Columns of roles' bindings, certificates, admission and what extends the API.
import { humanAge } from '../../base/human-age.ts';
import { numberAt, recordAt, recordsAt, textAt } from '../json-access.ts';
import type { JsonObject } from '../type-info.ts';
import { age, column, count, firstOf, name, tableOf, text, wide } from './column.ts';
import type { TableColumns } from './column.ts';
import { labels, selectorText } from './selector-text.ts';

type Kind = Readonly<JsonObject>;

const subjectsOf =
  (kind: string) =>
  (binding: Kind): string =>
    recordsAt(binding, 'subjects')
      .filter((subject) => textAt(subject, 'kind') === kind)
      .map((subject) => {
        const subjectName = textAt(subject, 'name');
        const isAccount = kind === 'ServiceAccount';
        return isAccount ? `${textAt(subject, 'namespace')}/${subjectName}` : subjectName;
      })
      .join(', ');

const roleOf = (binding: Kind): string => {
  const role = recordAt(binding, 'roleRef');
  return `${textAt(role, 'kind')}/${textAt(role, 'name')}`;
};

const binding = tableOf([
  name,
  column('Role', 'string', roleOf, 'Role that is given.'),
  age,
  wide(column('Users', 'string', subjectsOf('User'), 'Users who get it.')),
  wide(column('Groups', 'string', subjectsOf('Group'), 'Groups that get it.')),
  wide(
    column('ServiceAccounts', 'string', subjectsOf('ServiceAccount'), 'Service accounts with it.'),
  ),
]);

const conditionsOf = (object: Kind): readonly JsonObject[] =>
  recordsAt(recordAt(object, 'status'), 'conditions');

function requestedDuration(object: Kind): string {
  const seconds = numberAt(recordAt(object, 'spec'), 'expirationSeconds');
  return seconds === undefined ? '<none>' : humanAge(seconds * 1000);
}

function requestCondition(object: Kind): string {
  const types = new Set(conditionsOf(object).map((one) => textAt(one, 'type')));
  const decision = ['Denied', 'Approved'].find((type) => types.has(type)) ?? 'Pending';
  const isIssued = textAt(recordAt(object, 'status'), 'certificate') !== '';
  return decision + (types.has('Failed') ? ',Failed' : '') + (isIssued ? ',Issued' : '');
}

function podRequestState(object: Kind): string {
  const known = ['Issued', 'Denied', 'Failed'];
  const types = conditionsOf(object).map((one) => textAt(one, 'type'));
  return types.filter((type) => known.includes(type)).at(-1) ?? 'Pending';
}

function paramKindOf(object: Kind): string {
  const kind = recordAt(recordAt(object, 'spec'), 'paramKind');
  return kind === undefined ? '<unset>' : `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}`;
}

function paramRefOf(object: Kind): string {
  const reference = recordAt(recordAt(object, 'spec'), 'paramRef');
  if (reference === undefined) return '<unset>';
  const paramName = textAt(reference, 'name');
  if (paramName === '') return selectorText(recordAt(reference, 'selector'));
  return `${textAt(reference, 'namespace') || '*'}/${paramName}`;
}

const paramKind = column('ParamKind', 'string', paramKindOf, 'Kind of the parameters.');
const policyBinding = tableOf([
  name,
  column('PolicyName', 'string', text('spec.policyName'), 'Policy that is put to work.'),
  column('ParamRef', 'string', paramRefOf, 'Parameters that the policy gets.'),
  age,
]);
const webhooks = tableOf([
  name,
  column('Webhooks', 'integer', count('webhooks'), 'Number of webhooks.'),
  age,
]);

function backendOf(object: Kind): string {
  const service = recordAt(recordAt(object, 'spec'), 'service');
  return service === undefined
    ? 'Local'
    : `${textAt(service, 'namespace')}/${textAt(service, 'name')}`;
}

function availabilityOf(object: Kind): string {
  const condition = conditionsOf(object).find((one) => textAt(one, 'type') === 'Available');
  if (condition === undefined) return 'Unknown';
  const [status, reason] = [textAt(condition, 'status'), textAt(condition, 'reason')];
  return status !== 'True' && reason !== '' ? `${status} (${reason})` : status;
}

const storedVersions = (object: Kind): string =>
  firstOf(
    recordsAt(recordAt(object, 'status'), 'storageVersions').map(
      (one) => `${textAt(one, 'apiServerID')}=${textAt(one, 'encodingVersion')}`,
    ),
    3,
  ) || '<unset>';

const signer = column('SignerName', 'string', text('spec.signerName', '<none>'), 'Who signs.');

export const accessColumns: Readonly<Record<string, TableColumns>> = {
  'rbac/RoleBinding': binding,
  'rbac/ClusterRoleBinding': binding,
  'certificates/CertificateSigningRequest': tableOf([
    name,
    age,
    signer,
    column('Requestor', 'string', text('spec.username'), 'Who asks for the certificate.'),
    column('RequestedDuration', 'string', requestedDuration, 'How long it should be valid.'),
    column('Condition', 'string', requestCondition, 'Whether it was decided on and signed.'),
  ]),
  'certificates/ClusterTrustBundle': tableOf([name, signer]),
  'certificates/PodCertificateRequest': tableOf([
    name,
    column('PodName', 'string', text('spec.podName'), 'Pod that gets the certificate.'),
    column(
      'ServiceAccountName',
      'string',
      text('spec.serviceAccountName'),
      'Service account of the pod.',
    ),
    column('NodeName', 'string', text('spec.nodeName'), 'Node of the pod.'),
    column('SignerName', 'string', text('spec.signerName'), 'Who signs.'),
    column('State', 'string', podRequestState, 'Whether it was decided on and signed.'),
    column(
      'UnverifiedUserAnnotations',
      'string',
      labels('spec.unverifiedUserAnnotations'),
      'What the pod tells the signer.',
    ),
  ]),
  'admissionregistration/ValidatingAdmissionPolicy': tableOf([
    name,
    column('Validations', 'integer', count('spec.validations'), 'Number of checks.'),
    paramKind,
    age,
  ]),
  'admissionregistration/MutatingAdmissionPolicy': tableOf([
    name,
    column('Mutations', 'integer', count('spec.mutations'), 'Number of changes.'),
    paramKind,
    age,
  ]),
  'admissionregistration/ValidatingAdmissionPolicyBinding': policyBinding,
  'admissionregistration/MutatingAdmissionPolicyBinding': policyBinding,
  'admissionregistration/ValidatingWebhookConfiguration': webhooks,
  'admissionregistration/MutatingWebhookConfiguration': webhooks,
  'apiregistration/APIService': tableOf([
    name,
    column('Service', 'string', backendOf, 'Service that answers for the version.'),
    column('Available', 'string', availabilityOf, 'Whether it answers.'),
    age,
  ]),
  'apiserverinternal/StorageVersion': tableOf([
    name,
    column(
      'CommonEncodingVersion',
      'string',
      text('status.commonEncodingVersion', '<unset>'),
      'Version that all servers write.',
    ),
    column('StorageVersions', 'string', storedVersions, 'Version that each server writes.'),
    age,
  ]),
  'node/RuntimeClass': tableOf([
    name,
    column('Handler', 'string', text('handler'), 'Runtime that the nodes use.'),
    age,
  ]),
};
