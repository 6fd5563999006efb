// Selectors of devices: expressions that compile to a condition and cost little enough. Those that
// are stored just so are not looked at again.
import { listAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { CompileErrors, ProgramFailure } from '../../cel/environment.ts';
import { typeText } from '../../cel/model/cel-type.ts';
import { deviceEnvironment } from '../../cel/use/device-environment.ts';
import type { Holder, Scope } from '../validator.ts';

const selectorsMax = 32;
const expressionBytesMax = 10_240;
const costMax = 1_000_000n;

/** The member `selectors` of a request or class at `path`. */
export function validateSelectors(
  of: Holder,
  path: string,
  scope: Scope,
  { isStored = false } = {},
): void {
  const { errors } = scope;
  const where = `${path}.selectors`;
  const count = listAt(of, 'selectors').length;
  if (count > selectorsMax) {
    errors.tooMany(where, count, selectorsMax);
    return;
  }
  for (const [at, selector] of recordsAt(of, 'selectors').entries()) {
    const cel = recordAt(selector, 'cel');
    const place = `${where}[${String(at)}].cel`;
    if (cel === undefined) errors.required(place);
    else if (!isStored) {
      validateExpression(textAt(cel, 'expression'), `${place}.expression`, scope);
    }
  }
}

function validateExpression(text: string, path: string, { errors, naming, isOn }: Scope): void {
  if (Buffer.byteLength(text) > expressionBytesMax) {
    errors.tooLong(path, expressionBytesMax);
    return;
  }
  const listAttributes = isOn('DRAListTypeAttributes');
  const environment = deviceEnvironment(naming, {
    sharedDevices: isOn('DRAConsumableCapacity'),
    listAttributes,
  });
  const program = environment.compile(text);
  if (program instanceof CompileErrors) {
    errors.invalid(path, text, `compilation failed: ${program.toText()}`);
    return;
  }
  const { resultType } = program instanceof ProgramFailure ? program.checked : program;
  const isCondition =
    resultType.kind === 'bool' ||
    (resultType.kind === 'dyn' && (resultType.name === 'any' || listAttributes));
  if (!isCondition) {
    const found = typeText(resultType);
    errors.invalid(path, text, `must evaluate to bool or the unknown type, not ${found}`);
  } else if (program instanceof ProgramFailure) {
    errors.invalid(path, text, `program instantiation failed: ${program.message}`);
  } else if (program.estimatedCost.max > costMax) {
    errors.forbidden(path, 'too complex, exceeds cost limit');
  }
}
