// Values, errors and costs of evaluations, and how an evaluation waits for the authorizer.
import { describe, expect, test } from '@jest/globals';
import { RawJson } from '../api/raw-json.ts';
import type { AuthorizationCheck, AuthorizationDecision } from './model/declarations.ts';
import { evaluate, programOf } from './testing/evaluate.ts';

describe('values', () => {
  test.each<[string, unknown]>([
    ['1 + 2 * 3', 7],
    ['7 / -2', -3],
    ['-7 % 3', -1],
    ['9223372036854775807 - 1', 9223372036854775806n],
    ['4611686018427387904 * 1', 4611686018427387904n],
    ['18446744073709551615u', 18446744073709551615n],
    ['1.0 / 0.0 > 1e308', true],
    ['double("NaN") == double("NaN")', false],
    ['dyn(1.0) == 1 && dyn(1u) == 1 && 1 < 1.5', true],
    ['dyn(9007199254740993) == 9007199254740992.0', true],
    ['9223372036854775807 < 9223372036854775808.0', false],
    ['"äöü😀".size()', 4],
    ['b"äöü".size()', 6],
    ['"😀a".charAt(1) + "x😀y".substring(1, 2)', 'a😀'],
    ['[1, 2] + [3] == [1, 2, 3]', true],
    ['{"a": 1, "b": 2} == {"b": 2, "a": 1}', true],
    ['timestamp("2024-02-29T12:00:00.000000001Z").getMilliseconds()', 0],
    ['string(timestamp("2024-02-29T12:00:00.000000001Z"))', '2024-02-29T12:00:00.000000001Z'],
    ['timestamp("2024-02-29T23:30:00Z").getDate("+01:00")', 1],
    [
      'string(timestamp("2024-02-29T23:30:00-07:30") + duration("1h"))',
      '2024-03-01T00:30:00-07:30',
    ],
    ['timestamp("2024-02-29T23:30:00+01:00").getHours()', 23],
    ['timestamp("2024-02-29T23:30:00+01:00").getHours("UTC")', 22],
    ['"%.0f %.0f %.2f %.1f %.0e".format([0.5, 1.5, 0.125, 0.45, 2.5])', '0 2 0.12 0.5 2×10⁰⁰'],
    [
      '["1k", "1.5k", "1000m", "1.0", "1Pi"].map(q, quantity(q).isInteger())',
      [true, true, false, false, false],
    ],
    ['quantity("1500m").add(quantity("500m")).isInteger()', false],
    ['string(duration("1h30m1.5s"))', '5401.5s'],
    ['x.map(k, k)', ['a']],
    ['optional.of(x).?a.orValue(0)', 1],
  ])('%s', (text, value) => {
    expect(evaluate(text, { x: { a: 1 } })).toEqual(value);
  });
  test('raw JSON is what its text says', () => {
    const object = { data: RawJson.of('{"a":[1.0,{"b":9007199254740993}]}'), none: null };
    const text =
      'object.data.a[1].b == 9007199254740993 && has(object.data.a) && object.none == null';
    expect(evaluate(text, { object })).toBe(true);
    expect(evaluate('object.data', { object })).toEqual({ a: [1, { b: 9007199254740993n }] });
  });
});

describe('errors', () => {
  test.each<[string, string]>([
    ['9223372036854775807 + count', 'integer overflow'],
    ['-(-9223372036854775807 - count)', 'integer overflow'],
    ['count / 0', 'division by zero'],
    ['count % 0', 'modulus by zero'],
    [
      'cidr("x")',
      'network address parse error during conversion from string: network address parse error ' +
        'during conversion from string: netip.ParsePrefix("x"): no \'/\'',
    ],
    ['x.b', 'no such key: b'],
    ['x[0]', 'no such key: 0'],
    ['names[5]', 'index out of bounds: 5'],
    ['x < 1', 'no such overload: _<_'],
    ['1 < dyn(null)', 'no such overload'],
    ['dyn(null) + 1', 'no such overload: _+_'],
    ['-dyn(null)', 'no such overload: -_'],
    ['timestamp("9999-12-31T23:59:59Z") + duration("1s")', 'timestamp overflow'],
    ['object.a', 'no such attribute(s): object'],
  ])('%s', (text, message) => {
    const bindings = { x: { a: 1 }, count: 1, names: ['a'] };
    expect(evaluate(text, bindings)).toBe(`error: ${message}`);
  });

  test.each<[string, unknown]>([
    ['x.missing || true', true],
    ['true || x.missing', true],
    ['x.missing && false', false],
    ['x.missing || false', 'error: no such key: missing'],
    ['[x, {"missing": true}].exists(i, i.missing)', true],
    ['[x, {"missing": false}].all(i, i.missing)', false],
    ['[x].exists(i, i.missing)', 'error: no such key: missing'],
    ['false ? x.missing : 1', 1],
  ])('%s absorbs what does not decide it', (text, value) => {
    expect(evaluate(text, { x: { a: 1 } })).toEqual(value);
  });
});

describe('costs', () => {
  test.each<[string, number, bigint]>([
    ['true', 0, 0n],
    ['count', 1, 1n],
    ['count + 1', 2, 2n],
    ['names.all(n, n.size() > 0)', 32, 18446744073709551615n],
    ['[count, 2]', 11, 11n],
    ['{"a": count}', 31, 31n],
    // Constant parts are computed when compiling, but still estimated.
    ['[1, 2, 3]', 0, 10n],
    ['"aaaaaaaaaaaaaaaaaaaa" + "b"', 3, 3n],
    ['"aaaaaaaaaaaaaaaaaaaa".contains("aaaaaaaaaaaa")', 4, 4n],
    ['count > 5 && names.size() > 1', 2, 5n],
    ['authorizer.path("/a").check("get").allowed()', 350_003, 350_003n],
  ])('%s', (text, cost, estimateMax) => {
    const program = programOf(text);
    const decide = (): AuthorizationDecision => ({ decision: 'allow', reason: '', error: '' });
    const bindings = { count: 1, names: ['a', 'b', 'c', 'd', 'e'] };
    expect(program.evaluate(bindings, { authorizer: { decide } }).kind).toBe('value');
    expect(program.evaluate(bindings, { authorizer: { decide } })).toMatchObject({ cost });
    expect(program.estimatedCost.max).toBe(estimateMax);
  });

  test('a limit that is just enough is enough', () => {
    const program = programOf('count + 1');
    expect(program.evaluate({ count: 1 }, { costLimit: 2 })).toMatchObject({ kind: 'value' });
    expect(program.evaluate({ count: 1 }, { costLimit: 1 })).toMatchObject({
      message: 'operation cancelled: actual cost limit exceeded',
      isCancelled: true,
    });
  });
});

describe('questions to the authorizer', () => {
  const text =
    'names.exists(n, authorizer.group("").resource("pods").name(n).check("get").allowed())';

  /** Evaluates again with each answer, as an embedding does. */
  function converse(answers: Readonly<Record<string, AuthorizationDecision['decision']>>): {
    asked: readonly AuthorizationCheck[];
    outcome: unknown;
  } {
    const program = programOf(text);
    const known = new Map<string, AuthorizationDecision>();
    const asked: AuthorizationCheck[] = [];
    for (;;) {
      const result = program.evaluate(
        { names: ['a', 'b', 'c'] },
        { authorizer: { decide: (check) => known.get(check.name) }, costLimit: Infinity },
      );
      if (result.kind !== 'pending') return { asked, outcome: result };
      asked.push(result.check);
      const decision = answers[result.check.name] ?? 'noOpinion';
      known.set(result.check.name, { decision, reason: '', error: '' });
    }
  }

  test('end the evaluation until there is an answer', () => {
    const { asked, outcome } = converse({ b: 'allow' });
    expect(asked.map(({ name, verb, resource }) => [name, verb, resource])).toEqual([
      ['a', 'get', 'pods'],
      ['b', 'get', 'pods'],
    ]);
    expect(outcome).toMatchObject({ kind: 'value', value: true });
  });

  test('cost what the last run costs', () => {
    const remembered = programOf(text).evaluate(
      { names: ['a', 'b', 'c'] },
      {
        authorizer: {
          decide: ({ name }) => ({
            decision: name === 'b' ? 'allow' : 'deny',
            reason: '',
            error: '',
          }),
        },
        costLimit: Infinity,
      },
    );
    const { outcome } = converse({ b: 'allow' });
    expect(outcome).toMatchObject({ cost: remembered.kind === 'value' ? remembered.cost : -1 });
  });

  test('are not absorbed by what could decide without them', () => {
    const decide = (): undefined => undefined;
    const result = programOf('authorizer.path("/a").check("get").allowed() || true').evaluate(
      {},
      { authorizer: { decide } },
    );
    expect(result).toMatchObject({ kind: 'pending', check: { path: '/a', verb: 'get' } });
  });

  test('without an authorizer are an error', () => {
    expect(evaluate('authorizer.path("/a").check("get").allowed()')).toBe('error: no authorizer');
  });
});
