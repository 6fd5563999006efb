// Checks the expressions of a policy against the types of the kinds it matches. What it finds only
// warns: a policy may match kinds that do not exist yet.
import { limits } from '../../base/limits.ts';
import type { TypeInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { CompileErrors } from '../environment.ts';
import type { DeclaredType } from '../schema/declared-type.ts';
import { kindType } from '../schema/kind-types.ts';
import { composeVariables } from './composition.ts';
import type { NamedExpression } from './composition.ts';
import { policyEnvironment } from './policy-environment.ts';

const { typeCheckedKindsMax } = limits;

export interface CheckedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** As its schema declares it, or as a built-in kind is described. */
  readonly type: DeclaredType | TypeInfo;
}

export interface TypeCheckOptions {
  readonly naming: NamingProfile;
  readonly kinds: readonly CheckedKind[];
  readonly hasParams: boolean;
  readonly paramsType?: DeclaredType | TypeInfo;
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
      objectType: declared(kind.type),
      ...(options.paramsType === undefined ? {} : { paramsType: declared(options.paramsType) }),
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

const declared = (type: DeclaredType | TypeInfo): DeclaredType =>
  'celType' in type ? type : kindType(type);

function kindText({ group, version, kind }: CheckedKind): string {
  return `${group === '' ? version : `${group}/${version}`}, Kind=${kind}`;
}
