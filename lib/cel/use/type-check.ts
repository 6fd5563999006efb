// Checks the expressions of a policy against the types of the kinds it matches. What it finds only
// warns: a policy may match kinds that do not exist yet.
import { limits } from '../../base/limits.ts';
import type { TypeInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { CompileErrors } from '../environment.ts';
import { kindType } from '../schema/value-types.ts';
import { composeVariables } from './composition.ts';
import type { NamedExpression } from './composition.ts';
import { policyEnvironment } from './policy-environment.ts';

const { typeCheckedKindsMax } = limits;

export interface CheckedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly type: TypeInfo;
}

export interface TypeCheckOptions {
  readonly naming: NamingProfile;
  readonly kinds: readonly CheckedKind[];
  readonly hasParams: boolean;
  readonly paramsType?: TypeInfo;
  readonly variables: readonly NamedExpression[];
  readonly expressions: readonly { readonly fieldRef: string; readonly expression: string }[];
}

export interface TypeCheckWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

/** One warning for each expression that some kind does not fit. */
export function typeCheckPolicy(options: TypeCheckOptions): readonly TypeCheckWarning[] {
  const environments = options.kinds.slice(0, typeCheckedKindsMax).map((kind) => {
    const base = policyEnvironment({
      naming: options.naming,
      hasParams: options.hasParams,
      hasAuthorizer: true,
      objectType: kindType(kind.type),
      ...(options.paramsType === undefined ? {} : { paramsType: kindType(options.paramsType) }),
    });
    return { kind, environment: composeVariables(base, options.variables).environment };
  });
  return options.expressions.flatMap(({ fieldRef, expression }) => {
    const texts = environments.flatMap(({ kind, environment }) => {
      const checked = environment.check(expression);
      return checked instanceof CompileErrors ? [`${kindText(kind)}: ${checked.toText()}\n`] : [];
    });
    return texts.length === 0 ? [] : [{ fieldRef, warning: texts.join('\n') }];
  });
}

function kindText({ group, version, kind }: CheckedKind): string {
  return `${group === '' ? version : `${group}/${version}`}, Kind=${kind}`;
}
