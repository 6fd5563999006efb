import { expect, test } from '@jest/globals';
import { parseScript, rewriteScript } from './rule-script.ts';
import type { ScriptCase } from './rule-script.ts';

const script = [
  '// A comment | with | bars',
  '',
  '= services Service',
  '{"metadata":{"name":"s"}}',
  'a: is right  |  x=1 ; y=2  |  x Invalid ',
  '[update] b: is wrong | x="a  b" ;  y=- | y Required',
  '',
  '= pods Pod *',
  '{"metadata":{"name":"p"}}',
  '[status] c: is not told | status={"a|b":1}',
  'd: changes nothing |  | ok',
].join('\n');

/** What a run finds, by the first letter of the claim. */
const found: Readonly<Record<string, string>> = {
  a: 'x Invalid',
  b: 'y Invalid, x TooLong',
  c: 'ok',
  d: 'metadata Required',
};
const run = ({ claim }: ScriptCase): string => found[claim.trim().charAt(0)] ?? '';

test('a script is rewritten where its cases end otherwise, and nowhere else', () => {
  const lines = script.split('\n');
  lines[5] = '[update] b: is wrong | x="a  b" ;  y=- | y Invalid, x TooLong';
  lines[9] = '[status] c: is not told | status={"a|b":1} | ok';
  lines[10] = 'd: changes nothing |  | metadata Required';
  const rewritten = rewriteScript(script, run);
  expect(rewritten.split('\n')).toEqual(lines);
  expect(rewriteScript(rewritten, run)).toBe(rewritten);
});

test('what was rewritten is what a run finds', () => {
  const cases = parseScript(rewriteScript(script, run));
  expect(cases.map(({ expected }) => expected)).toEqual(cases.map(run));
  expect(cases.map(({ changes }) => changes)).toEqual(
    parseScript(script).map((one) => one.changes),
  );
});
