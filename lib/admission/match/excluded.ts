// Requests that configured rules never see: those for the configurations themselves, or nobody
// could remove one that refuses everything; and, for policies, the questions of reviews.
import type { NamingProfile } from '../../api/vendor.ts';
import type { AdmissionRequest } from '../plugin.ts';

type OfResource = (request: Pick<AdmissionRequest, 'resource'>) => boolean;

/** Webhook configurations, policies, bindings: only what files configure sees requests for them. */
export function isConfiguration(naming: NamingProfile): OfResource {
  const group = naming.resolve('admissionregistration.{v}');
  return ({ resource }) => resource.group === group;
}

/** What policies never see; webhooks do. */
export function isReview(naming: NamingProfile): OfResource {
  const authentication = naming.resolve('authentication.{v}');
  const authorization = naming.resolve('authorization.{v}');
  return ({ resource: { group, resource } }) =>
    (group === authentication && authenticationReviews.has(resource)) ||
    (group === authorization && authorizationReviews.has(resource));
}

const authenticationReviews = new Set(['tokenreviews', 'selfsubjectreviews']);
const authorizationReviews = new Set([
  'subjectaccessreviews',
  'localsubjectaccessreviews',
  'selfsubjectaccessreviews',
  'selfsubjectrulesreviews',
]);
