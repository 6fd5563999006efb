// Custom resource definitions between the beta, which may set columns, schema and subresources once
// for all versions, and the stable version, which sets them in each version.
import { compact, eachIn, renamed, within } from '../../api/convert-fields.ts';
import type { Conversion, Conversions, Data, Step } from '../../api/convert-fields.ts';
import { sameJson } from '../../api/json-equal.ts';
import { isAbsent, isEmpty, isZero } from '../../api/presence.ts';
import { isSet, recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import { without } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';

/** Beta's members for all versions, and their names in a version. */
const shared: readonly (readonly [beta: string, ofVersion: string])[] = [
  ['validation', 'schema'],
  ['subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
  ['selectableFields', 'selectableFields'],
];
const sharedNames = shared.map(([beta]) => beta);

const columnsToStable: Step = (of) =>
  eachIn(of, 'additionalPrinterColumns', (column) => renamed(column, { JSONPath: 'jsonPath' }));
const columnsFromStable: Step = (of) =>
  eachIn(of, 'additionalPrinterColumns', (column) => renamed(column, { jsonPath: 'JSONPath' }));

const conversionToStable: Step = (conversion) => {
  const { webhookClientConfig } = conversion;
  const given = conversion['conversionReviewVersions'];
  // A webhook that named no versions was asked in the only one that there was.
  const conversionReviewVersions =
    conversion['strategy'] === 'Webhook' && isEmpty(given) ? ['v1beta1'] : given;
  const webhook = compact({ clientConfig: webhookClientConfig, conversionReviewVersions });
  const rest = without(conversion, 'webhookClientConfig', 'conversionReviewVersions');
  return isEmpty(webhook) ? rest : { ...rest, webhook };
};

const conversionFromStable: Step = (conversion) => {
  const webhook = recordAt(conversion, 'webhook') ?? {};
  return {
    ...without(conversion, 'webhook'),
    ...compact({
      webhookClientConfig: webhook['clientConfig'],
      conversionReviewVersions: webhook['conversionReviewVersions'],
    }),
  };
};

function versionsToStable(spec: Data): readonly JsonObject[] {
  const given = recordsAt(spec, 'versions');
  const single = textAt(spec, 'version');
  const isSingle = given.length === 0 && single !== '';
  const versions = isSingle ? [{ name: single, served: true, storage: true }] : given;
  const forAll = compact(
    Object.fromEntries(shared.map(([beta, ofVersion]) => [ofVersion, spec[beta]])),
  );
  return versions.map((version) => columnsToStable({ ...forAll, ...compact(version) }));
}

const definitionToStable: Conversion = (object) =>
  within(object, ['spec'], (spec) => {
    const versions = versionsToStable(spec);
    // Unknown fields were kept unless the definition said otherwise.
    const preserveUnknownFields = spec['preserveUnknownFields'] ?? true;
    const rest = without(spec, 'version', 'preserveUnknownFields', ...sharedNames);
    const changed = within(rest, ['conversion'], conversionToStable);
    const preserves = preserveUnknownFields === true ? { preserveUnknownFields } : {};
    return { ...changed, versions: [...versions], ...preserves };
  });

/** Fields that are equal in all versions move up: the beta refuses equal ones in each version. */
function hoisted(spec: Data, versions: readonly JsonObject[]): JsonObject {
  const [first, ...others] = versions;
  let kept = versions;
  const forAll: JsonObject = {};
  for (const [beta, ofVersion] of shared) {
    const value = first?.[ofVersion];
    if (isAbsent(value)) continue;
    if (!others.every((one) => sameJson(one[ofVersion], value))) continue;
    forAll[beta] = value;
    kept = kept.map((one) => without(one, ofVersion));
  }
  return { ...spec, ...forAll, versions: [...kept] };
}

const definitionFromStable: Conversion = (object) =>
  within(object, ['spec'], (spec) => {
    const versions = recordsAt(spec, 'versions').map(columnsFromStable);
    const changed = within(spec, ['conversion'], conversionFromStable);
    const [first] = versions;
    const version = isSet(first ?? {}, 'name') ? { version: textAt(first, 'name') } : {};
    const preserves = !isZero(valueAt(spec, 'preserveUnknownFields'));
    return { ...hoisted(changed, versions), ...version, preserveUnknownFields: preserves };
  });

const stable = 'apiextensions/v1.CustomResourceDefinition';
const beta = 'apiextensions/v1beta1.CustomResourceDefinition';

export const definitionConversions: Conversions = {
  [`${beta} > ${stable}`]: definitionToStable,
  [`${stable} > ${beta}`]: definitionFromStable,
};
