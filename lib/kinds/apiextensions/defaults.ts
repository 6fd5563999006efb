// Defaults of custom resource definitions that depend on other fields.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { ensureRecord } from '../../api/default-rule.ts';
import type { DefaultRule, DefaultRules } from '../../api/default-rule.ts';
import { isZero } from '../../api/presence.ts';
import { storageVersionOf } from './definition-parts.ts';

const definition: DefaultRule = {
  version: 1,
  complete(object) {
    const spec = recordAt(object, 'spec');
    if (!isZero(recordAt(object, 'status')?.['storedVersions'])) return;
    const name = storageVersionOf(spec);
    if (name !== '') ensureRecord(object, 'status')['storedVersions'] = [name];
  },
};

/** The older version may name its one version outside the list. */
const olderDefinition: DefaultRule = {
  version: 1,
  complete(object, context) {
    const spec = ensureRecord(object, 'spec');
    const single = textAt(spec, 'version');
    if (isZero(spec['versions']) && single !== '') {
      spec['versions'] = [{ name: single, served: true, storage: true }];
    }
    if (isZero(spec['scope'])) spec['scope'] = 'Namespaced';
    const [first] = recordsAt(spec, 'versions');
    if (single === '' && first !== undefined) spec['version'] = textAt(first, 'name');
    definition.complete(object, context);
  },
};

const names: DefaultRule = {
  version: 1,
  complete(object) {
    const kind = textAt(object, 'kind');
    if (kind === '') return;
    if (isZero(object['singular'])) object['singular'] = kind.toLowerCase();
    if (isZero(object['listKind'])) object['listKind'] = `${kind}List`;
  },
};

/** Names in `spec` only: those in status are what was accepted. */
const spec: DefaultRule = {
  version: 1,
  complete(object, context) {
    const given = recordAt(object, 'names');
    if (given !== undefined) names.complete(given, context);
  },
};

export const definitionDefaults: DefaultRules = {
  'apiextensions/v1.CustomResourceDefinition': definition,
  'apiextensions/v1beta1.CustomResourceDefinition': olderDefinition,
  'apiextensions/v1.CustomResourceDefinitionSpec': spec,
  'apiextensions/v1beta1.CustomResourceDefinitionSpec': spec,
};
