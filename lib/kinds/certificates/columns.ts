// Columns of certificate requests and bundles of trusted certificates.
import { humanAge } from '../../base/human-age.ts';
import { column, tableOf, text, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { textAt, numberAt, recordAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { labels } from '../selector-columns.ts';

type Kind = Readonly<JsonObject>;

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

const signer = column('SignerName', 'string', text('spec.signerName', '<none>'), 'Who signs.');

export const signingRequestColumns: TableColumns = tableOf([
  name,
  age,
  signer,
  column('Requestor', 'string', text('spec.username'), 'Who asks for the certificate.'),
  column('RequestedDuration', 'string', requestedDuration, 'How long it should be valid.'),
  column('Condition', 'string', requestCondition, 'Whether it was decided on and signed.'),
]);

export const trustBundleColumns: TableColumns = tableOf([name, signer]);

export const podRequestColumns: TableColumns = tableOf([
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
]);
