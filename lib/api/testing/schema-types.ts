// Types from schemas, for tests: the real metadata, names in the kubernetes spelling.
import { loadResourceSchema } from '../load-schema.ts';
import type { SchemaSource } from '../load-schema.ts';
import { createScheme } from '../scheme.ts';
import type { TypeInfo } from '../type-info.ts';
import { namingProfile } from '../vendor.ts';
import { noKindRules } from './no-kind-rules.ts';

const profile = namingProfile('kubernetes');
const objectMeta = createScheme({ profile, rules: noKindRules }).type('meta/v1.ObjectMeta');

export const sourceOf = (id: string): SchemaSource => ({ id, objectMeta, profile });

/** The type of objects that `schema` describes, `example.com/v1.Thing`. */
export const typeOf = (schema: object): TypeInfo =>
  loadResourceSchema({ type: 'object', ...schema }, sourceOf('example.com/v1.Thing'));
