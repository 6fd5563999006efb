import { describe, expect, test } from '@jest/globals';
import { CompileErrors, ProgramFailure } from '../environment.ts';
import { typeText } from '../model/cel-type.ts';
import { naming } from '../testing/evaluate.ts';
import { deviceEnvironment } from './device-environment.ts';
import type { DeviceFeatures } from './device-environment.ts';

const shared: DeviceFeatures = { sharedDevices: true, listAttributes: false };
const lists: DeviceFeatures = { sharedDevices: true, listAttributes: true };
const own = 'device.attributes["dra.example.com"]';
const capacity = 'device.capacity["dra.example.com"]';

function compiled(text: string, features: DeviceFeatures): string {
  const program = deviceEnvironment(naming, features).compile(text);
  if (program instanceof CompileErrors) return program.toLines().join('; ');
  if (program instanceof ProgramFailure) return program.message;
  return `${typeText(program.resultType)} ${String(program.estimatedCost.max)}`;
}

describe('selectors of devices', () => {
  test.each<[text: string, expected: string]>([
    ['true', 'bool 0'],
    ['"d" in device.attributes', 'bool 3'],
    ['device.driver == ""', 'bool 2'],
    ['device.driver == "dra.example.com"', 'bool 4'],
    [`${own}.name`, 'any 4'],
    [`${own}["name"]`, 'any 4'],
    [`cel.bind(dra, ${own}, dra.name)`, 'any 15'],
    [`${own}.name > 0`, 'bool 5'],
    [`${own}.name == "fish"`, 'bool 5'],
    [`${own}.name.isGreaterThan(semver("0.0.1"))`, 'bool 6'],
    [`${capacity}.name.isGreaterThan(quantity("1Ki"))`, 'bool 6'],
    [`"name" in ${capacity} && ${capacity}.name.isGreaterThan(quantity("1Ki"))`, 'bool 10'],
    ['device.attributes.exists_one(x, x == "dra.example.com")', 'bool 164'],
    [`${own}.exists_one(x, x == "services")`, 'bool 133'],
    [`${own}.services.split("example").size() >= 2`, 'bool 19'],
    [`${own}.services.matches("[^a]?sym")`, 'bool 18'],
    [`${capacity}.exists_one(x, x == "memory")`, 'bool 133'],
    ['device.allowMultipleAllocations == true', 'bool 3'],
    ['1', 'int 0'],
  ])('%s: type and greatest cost', (text, expected) => {
    expect(compiled(text, shared)).toBe(expected);
  });

  test.each<[text: string, expected: string]>([
    [
      `${own}.name.exists(x, x > 0)`,
      "1:37: expression of type 'any' cannot be range of a comprehension",
    ],
    [`${own}.name.includes(1)`, "1:51: undeclared reference to 'includes' (in container '')"],
    ['device.missing', "1:7: undefined field 'missing'"],
    ['cel.bind(1, 2, 3)', '1:10: cel.bind() variable names must be simple identifiers'],
  ])('%s is none', (text, expected) => {
    expect(compiled(text, shared)).toContain(expected);
  });

  test('know whether devices can be shared', () => {
    const features = { sharedDevices: false, listAttributes: false };
    expect(compiled('device.allowMultipleAllocations', features)).toContain('undefined field');
  });

  test.each<[text: string, expected: string]>([
    [`${own}.names.size() == 2`, 'bool 6'],
    [`${own}.name.exists(x, x > 0)`, `bool ${String(5 + 6 * 64)}`],
    [`${own}.name.includes(1)`, `bool ${String(4 + 48)}`],
    [`1 in ${own}.names`, `bool ${String(4 + 64)}`],
  ])('%s: attributes may be lists', (text, expected) => {
    expect(compiled(text, lists)).toBe(expected);
  });
});
