// Every built-in kind that is more than its description, and what schemes, Tables and stores take
// of their records.
import type { TableColumns } from '../api/type-info.ts';
import { defaultColumns } from '../api/column.ts';
import { FieldErrors } from '../api/field-errors.ts';
import { kindNameOf } from '../api/kind-rules.ts';
import type { KindRules } from '../api/kind-rules.ts';
import { createScheme } from '../api/scheme.ts';
import type { Scheme } from '../api/scheme.ts';
import type { ResourceInfo, TypeInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { FieldError } from '../base/status.ts';
import { inTurns } from '../base/steps.ts';
import type { ApiObject } from '../codec/codec.ts';
import { admissionregistrationKinds } from './admissionregistration/kinds.ts';
import { apiextensionsKinds } from './apiextensions/kinds.ts';
import { apiregistrationKinds } from './apiregistration/kinds.ts';
import { apiserverinternalKinds } from './apiserverinternal/kinds.ts';
import { appsKinds } from './apps/kinds.ts';
import { authorizationKinds } from './authorization/kinds.ts';
import { autoscalingKinds } from './autoscaling/kinds.ts';
import { batchKinds } from './batch/kinds.ts';
import { certificatesKinds } from './certificates/kinds.ts';
import { coordinationKinds } from './coordination/kinds.ts';
import { coreKinds } from './core/kinds.ts';
import { discoveryKinds } from './discovery/kinds.ts';
import { flowcontrolKinds } from './flowcontrol/kinds.ts';
import { networkingKinds } from './networking/kinds.ts';
import { nodeKinds } from './node/kinds.ts';
import { policyKinds } from './policy/kinds.ts';
import { rbacKinds } from './rbac/kinds.ts';
import { resourceKinds } from './resource/kinds.ts';
import { schedulingKinds } from './scheduling/kinds.ts';
import { storageKinds } from './storage/kinds.ts';
import { storagemigrationKinds } from './storagemigration/kinds.ts';
import type { Kind, KindOptions } from './kind.ts';
import { statusColumns } from './meta/columns.ts';
import type { GateCheck, ResourceStrategy, WriteContext } from './strategy.ts';
import type { Validator, ValidatorInSteps } from './validator.ts';

const kinds: readonly Kind[] = [
  ...admissionregistrationKinds,
  ...apiextensionsKinds,
  ...apiregistrationKinds,
  ...apiserverinternalKinds,
  ...appsKinds,
  ...authorizationKinds,
  ...autoscalingKinds,
  ...batchKinds,
  ...certificatesKinds,
  ...coordinationKinds,
  ...coreKinds,
  ...discoveryKinds,
  ...flowcontrolKinds,
  ...networkingKinds,
  ...nodeKinds,
  ...policyKinds,
  ...rbacKinds,
  ...resourceKinds,
  ...schedulingKinds,
  ...storageKinds,
  ...storagemigrationKinds,
  { name: 'meta/Status', columns: statusColumns },
];

const byName: ReadonlyMap<string, Kind> = new Map(kinds.map((kind) => [kind.name, kind]));

export const builtInRules: KindRules = {
  defaults: Object.assign({}, ...kinds.map(({ defaults }) => defaults)) as KindRules['defaults'],
  conversions: Object.assign(
    {},
    ...kinds.map(({ conversions }) => conversions),
  ) as KindRules['conversions'],
  fieldReaders: Object.fromEntries(
    kinds.flatMap(({ name: kind, fieldReaders }) =>
      fieldReaders === undefined ? [] : [[kind, fieldReaders]],
    ),
  ),
};

/** The scheme with all built-in kinds. */
export const builtInScheme = (options: Omit<Parameters<typeof createScheme>[0], 'rules'>): Scheme =>
  createScheme({ ...options, rules: builtInRules });

export type ColumnsOf = (type: TypeInfo) => TableColumns;

export function kindColumns(naming: NamingProfile): ColumnsOf {
  const tables = new Map<string, TableColumns>();
  for (const { name: kind, columns } of kinds) {
    if (columns === undefined) continue;
    tables.set(kind, typeof columns === 'function' ? columns(naming) : columns);
  }
  return ({ id }) => tables.get(kindNameOf(id)) ?? defaultColumns;
}

/** Annotations that metadata by itself is without, by type. */
export function kindFieldAnnotations(naming: NamingProfile): (type: TypeInfo) => readonly string[] {
  const names = new Map(
    kinds.map((kind) => [kind.name, kind.fieldAnnotations?.(naming) ?? []] as const),
  );
  return ({ id }) => names.get(kindNameOf(id)) ?? [];
}

/** The strategy of a stored resource, with its validation. */
export function kindStrategies(options: KindOptions): (stored: ResourceInfo) => ResourceStrategy {
  const { naming } = options;
  return ({ type }) => {
    const kind = byName.get(kindNameOf(type.id));
    if (kind === undefined) return {};
    const { strategy = {}, validate, validateMigrated, rulesByHand, validateInSteps } = kind;
    return {
      ...(typeof strategy === 'function' ? strategy(options) : strategy),
      ...(validate === undefined ? {} : { validate: checking(validate, naming) }),
      ...(validateInSteps === undefined
        ? {}
        : { validateInTurns: checkingInTurns(validateInSteps, naming) }),
      ...(rulesByHand === undefined ? {} : { rulesByHand }),
      ...(validateMigrated === undefined
        ? {}
        : { validateMigrated: checking(validateMigrated, naming) }),
      ...warning(kind, naming),
    };
  };
}

const checking =
  (validator: Validator, naming: NamingProfile) =>
  (
    object: Readonly<ApiObject>,
    old: Readonly<ApiObject> | undefined,
    { subresource, apiVersion }: WriteContext,
    isOn: GateCheck,
    declared?: FieldError[],
  ): readonly FieldError[] => {
    const errors = new FieldErrors(declared);
    validator({ object, old, errors, isOn, naming, subresource, apiVersion });
    return errors.list;
  };

const checkingInTurns =
  (
    validator: ValidatorInSteps,
    naming: NamingProfile,
  ): NonNullable<ResourceStrategy['validateInTurns']> =>
  (object, old, { subresource, apiVersion, warnings }, isOn, found) => {
    const errors = new FieldErrors(found);
    const steps = validator({ object, old, errors, isOn, naming, subresource, apiVersion });
    return whenThere(inTurns(steps), (texts) => {
      if (errors.list.length === 0) {
        for (const text of texts) if (!warnings.includes(text)) warnings.push(text);
      }
      return errors.list;
    });
  };

function warning(
  { warnings, statusWarnings }: Kind,
  naming: NamingProfile,
): Pick<ResourceStrategy, 'warnings'> {
  if (warnings === undefined && statusWarnings === undefined) return {};
  return {
    warnings(object, old, { subresource, apiVersion }) {
      const asked = subresource === 'status' ? statusWarnings : warnings;
      return asked?.({ object, old, naming, subresource, apiVersion }) ?? [];
    },
  };
}
