// What kinds add to their description in the .proto files, as a scheme is made with it.
import type { Conversions } from './convert-fields.ts';
import type { DefaultRules } from './default-rule.ts';
import type { FieldReader } from './type-info.ts';

export interface KindRules {
  readonly defaults: DefaultRules;
  readonly conversions: Conversions;
  /**
   * Selectable fields whose value is not simply what stands at their path: by the type's name
   * without its version (`core/Pod`), then by path.
   */
  readonly fieldReaders: Readonly<Record<string, Readonly<Record<string, FieldReader>>>>;
}

/** `core/Pod` of `core/v1.Pod`: what names a kind in all of its versions. */
export const kindNameOf = (typeId: string): string =>
  `${typeId.slice(0, typeId.indexOf('/'))}/${typeId.slice(typeId.indexOf('.') + 1)}`;
