// Expressions in configuration objects: they must compile, to a result of the type that is needed.
import { textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Environment } from '../../cel/environment.ts';
import { compileCondition } from '../../cel/use/conditions.ts';
import type { ResultKinds } from '../../cel/use/conditions.ts';
import type { Scope } from '../validator.ts';

/** `of[name]`, when it is there; the field's own rule requires it. */
export function validateExpression(
  of: JsonObject,
  name: string,
  path: string,
  needs: { readonly environment: Environment; readonly kinds: ResultKinds },
  { errors }: Scope,
): void {
  const text = textAt(of, name);
  const where = `${path}.${name}`;
  if (text === '') return;
  if (text.trim() === '') {
    errors.required(where, 'expression is not specified');
    return;
  }
  const { error } = compileCondition(needs.environment, text, needs.kinds);
  if (error !== undefined) errors.invalid(where, text, error);
}

/** A message shown to users: one line, not blank. */
export function validateMessage(message: string, path: string, { errors }: Scope): void {
  if (message === '') return;
  if (message.trim() === '') {
    errors.invalid(path, message, 'message must be non-empty if specified');
  } else if (/[\n\r]/.test(message)) {
    errors.invalid(path, message, 'message must not contain line breaks');
  }
}
