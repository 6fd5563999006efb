// The kinds of apiextensions: one record each.
import type { Kind } from '../kind.ts';
import { definitionConversions } from './conversion.ts';
import { definitionDefaults } from './defaults.ts';
import { validateDefinition } from './definition-validation.ts';
import { definitionStrategy } from './definitions.ts';

export const apiextensionsKinds: readonly Kind[] = [
  {
    name: 'apiextensions/CustomResourceDefinition',
    defaults: definitionDefaults,
    conversions: definitionConversions,
    strategy: ({ naming }) => definitionStrategy(naming),
    validateInSteps: validateDefinition,
    rulesByHand: true,
  },
];
