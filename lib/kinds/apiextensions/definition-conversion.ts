// How a definition converts between its versions: nobody, or a webhook.
import type { FieldErrors } from '../../api/field-errors.ts';
import { flagAt, isSet, recordAt, recordIn, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder } from '../validator.ts';
import { knownReviewVersions, validateClient, validateReviewVersions } from '../webhook-client.ts';
import { caBundleProblem } from './ca-bundle.ts';
import { isEstablished } from './conditions.ts';

/** `old`: the stored definition; undefined: a create. */
export function validateConversion(spec: JsonObject, old: Holder, errors: FieldErrors): void {
  const conversion = recordAt(spec, 'conversion');
  if (conversion === undefined) return;
  const path = 'spec.conversion';
  const strategy = textAt(conversion, 'strategy');
  if (flagAt(spec, 'preserveUnknownFields') && strategy !== 'None') {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    errors.invalid(`${path}.strategy`, strategy, detail);
  }
  if (strategy === '') errors.required(`${path}.strategy`);
  else if (strategy !== 'None' && strategy !== 'Webhook') {
    errors.notSupported(`${path}.strategy`, strategy, ['None', 'Webhook']);
  }
  const webhook = recordAt(conversion, 'webhook');
  const client = recordAt(webhook, 'clientConfig');
  const versions = textsAt(webhook, 'conversionReviewVersions');
  const clientPath = `${path}.webhookClientConfig`;
  const versionsPath = `${path}.conversionReviewVersions`;
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (client !== undefined) errors.forbidden(clientPath, detail);
    if (versions.length > 0) errors.forbidden(versionsPath, detail);
    return;
  }
  if (client === undefined) {
    errors.required(clientPath, 'required when strategy is set to Webhook');
  } else {
    validateClient(client, clientPath, errors);
    validateBundle(client, `${clientPath}.caBundle`, old, errors);
  }
  validateReviewVersions(versions, versionsPath, errors, {
    mayBeUnknown: hasUnknownReviewVersions(old),
    required: '',
  });
}

/** One that does not parse is refused where conversion works today. */
function validateBundle(client: JsonObject, path: string, old: Holder, errors: FieldErrors): void {
  if (!isSet(client, 'caBundle') || old === undefined || !isEstablished(old)) return;
  const stored = recordIn(old, 'spec', 'conversion', 'webhook', 'clientConfig');
  if (caBundleProblem(textAt(stored, 'caBundle')) !== undefined) return;
  const given = textAt(client, 'caBundle');
  const problem = caBundleProblem(given);
  if (problem !== undefined) errors.invalid(path, given, problem);
}

function hasUnknownReviewVersions(old: Holder): boolean {
  const versions = textsAt(
    recordIn(old, 'spec', 'conversion', 'webhook'),
    'conversionReviewVersions',
  );
  return versions.length > 0 && !versions.some((one) => knownReviewVersions.includes(one));
}
