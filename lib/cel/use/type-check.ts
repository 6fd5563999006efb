// Checks the expressions of a policy against the types of the kinds it matches. What it finds only
// warns: a policy may match kinds that do not exist yet.
import { limits } from '../../base/limits.ts';
import type { TypeInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { longStep } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import { CompileErrors } from '../environment.ts';
import type { Environment } from '../environment.ts';
import { kindType } from '../schema/value-types.ts';
import { composeVariablesSteps } from './composition.ts';
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
export function* typeCheckPolicy(options: TypeCheckOptions): Steps<readonly TypeCheckWarning[]> {
  const { naming, hasParams, paramsType } = options;
  const environments: { readonly kind: CheckedKind; readonly environment: Environment }[] = [];
  for (const kind of options.kinds.slice(0, typeCheckedKindsMax)) {
    const base = policyEnvironment({
      naming,
      hasParams,
      hasAuthorizer: true,
      objectType: kindType(kind.type),
      ...(paramsType === undefined ? {} : { paramsType: kindType(paramsType) }),
    });
    const { environment } = yield* composeVariablesSteps(base, options.variables);
    environments.push({ kind, environment });
    yield longStep;
  }
  const warnings: TypeCheckWarning[] = [];
  for (const { fieldRef, expression } of options.expressions) {
    const texts: string[] = [];
    for (const { kind, environment } of environments) {
      const checked = environment.check(expression);
      if (checked instanceof CompileErrors) texts.push(`${kindText(kind)}: ${checked.toText()}\n`);
      yield longStep;
    }
    if (texts.length > 0) warnings.push({ fieldRef, warning: texts.join('\n') });
  }
  return warnings;
}

function kindText({ group, version, kind }: CheckedKind): string {
  return `${group === '' ? version : `${group}/${version}`}, Kind=${kind}`;
}
