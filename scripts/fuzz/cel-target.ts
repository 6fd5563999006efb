// Mutated expressions: whatever the text, compiling gives a program or errors, and evaluating ends
// within its cost limit.
import { namingProfile } from '../../lib/api/vendor.ts';
import { dynType, intType, listType, mapType, stringType } from '../../lib/cel/model/cel-type.ts';
import { CompileErrors, Environment, ProgramFailure } from '../../lib/cel/environment.ts';
import { authorizerTypes, authorizerValue } from '../../lib/cel/library/authorizer.ts';
import { badRequest } from '../../lib/base/status.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { mutate } from './mutate-text.ts';

const naming = namingProfile('kubernetes');
const environment = new Environment({
  naming,
  version: 'stored',
  jsonPatch: true,
  variables: [
    { name: 'object', type: dynType },
    { name: 'count', type: intType },
    { name: 'name', type: stringType },
    { name: 'names', type: listType(stringType) },
    { name: 'numbers', type: listType(intType) },
    { name: 'labels', type: mapType(stringType, stringType) },
    {
      name: 'authorizer',
      type: authorizerTypes(naming).authorizer,
      value: authorizerValue(naming),
    },
  ],
});

const bindings = {
  object: {
    spec: {
      replicas: 3,
      names: ['a', 'b', 'äöü'],
      nested: [
        [1, 2],
        [3.5, null],
      ],
      on: true,
    },
    metadata: { name: 'web', labels: { app: 'web', 'a.b/c': 'd' }, annotations: {} },
    items: Array.from({ length: 100 }, (_, index) => ({ id: index, text: 'x'.repeat(index) })),
  },
  count: 42,
  name: 'a name with spaces, ünd more 😀',
  names: Array.from({ length: 100 }, (_, index) => `name-${String(index)}`),
  numbers: Array.from({ length: 300 }, (_, index) => index * index),
  labels: { app: 'web', tier: 'front', __proto__x: 'p' },
};

const seeds = [
  'object.spec.replicas <= 5 && object.metadata.name.startsWith("we")',
  'object.items.all(i, i.id >= 0 && i.text.size() < 1000)',
  'object.items.exists_one(i, i.id == 7) || has(object.spec.missing)',
  'object.items.map(i, i.id > 3, i.text + "x").filter(t, t != "").size()',
  'names.map(n, n.split("-")[1]).map(t, int(t)).sum() == 4950',
  'labels.all(k, v, k != v) && labels.exists(k, v, v == "web")',
  'labels.transformMap(k, v, v.upperAscii()).size() + names.transformList(i, n, i).size()',
  'numbers.sortBy(i, -i).slice(1, 4) + numbers.distinct().reverse() + [[1], [2]].flatten()',
  'timestamp("2024-02-29T12:00:00.5Z") + duration("1h30m") > timestamp(0)',
  'timestamp("2024-02-29T12:00:00Z").getDayOfWeek("Europe/Berlin") + duration("90s").getSeconds()',
  'quantity("1.5Gi").add(quantity("20M")).isGreaterThan(quantity("1k")) && isQuantity("1x")',
  'url("https://user@example.com:80/p?q=1&q=2#f").getQuery()["q"] == ["1", "2"]',
  'ip("::ffff:10.0.0.1").family() == 4 || cidr("10.0.0.0/8").containsIP("10.1.2.3")',
  'semver("1.2.3-rc.1").isLessThan(semver("v1.2", true)) || isSemver("1.0.0+b")',
  'format.dns1123Label().validate("a-b").hasValue() ? "x" : format.named("uuid").value() == ""',
  'name.matches("^[a-z ]+(ü|d)*$") || name.find("[0-9]+") == ""',
  'name.findAll("a").size() == 1 && name.findAll("[^x]", 2) == ["a"]',
  '"%s %d %.3f %e %x %X %o %b".format([name, count, 1.5, 2.5, "ab", 255, 8, true])',
  'name.replace(" ", "", 2).substring(1, 4).trim().lastIndexOf("a") + strings.quote(name).size()',
  'name.charAt(3) in ["m", \'x\'] && b"\\xff\\000" != bytes(name) && r"\\d" == "\\\\d"',
  'object.?spec.?missing.orValue(5) == 5 && object.spec[?"on"].hasValue()',
  'optional.of(1).optMap(v, v + 1).orValue(0) + optional.none().or(optional.of(2)).value()',
  '{"a": 1, ?"b": object.?x, "c": dyn([1, "x", null])}.size() > 2u ? 1 : 0',
  'sets.contains([1, 2], [2]) || sets.intersects(numbers, [4]) || sets.equivalent(names, names)',
  'authorizer.group("").resource("pods").namespace("n").check("get").allowed()',
  'authorizer.path("/healthz").check("get").reason()',
  'authorizer.serviceAccount("a", "b").path("/").check("x").error()',
  'type(count) == int && type(name) != type(b"") && dyn(1.0) == 1 && 1u == uint(1)',
  '-9223372036854775808 / count % 7 * 3 - 0x7fffffffffffffff + int(1e3) - int("5")',
  'double(count) / 0.0 > 1e308 || string(count) == "42" || bool("true")',
  '[1, 2, 3].isSorted() && numbers.min() < numbers.max() && numbers.indexOf(4) == 2',
  'jsonpatch.escapeKey("a/b~c") + string(duration("1.5h")) + string(timestamp(1700000000))',
  'object.items.map(i, object.items.map(j, i.id * j.id)).size() > 3',
  '!(!true) ? [{"k": [null]}][0].k[0] == null : {1: 2, true: 3}[true] == 3 // end',
];

const costLimit = 50_000;
const never = { decide: () => ({ decision: 'noOpinion', reason: 'r', error: '' }) as const };

export const celTarget: FuzzTarget = {
  name: 'cel',
  refusals: [400],
  input: (random) => new TextEncoder().encode(mutate(random, random.of(seeds), seeds)),
  run: (input) => {
    const compiled = environment.compile(new TextDecoder().decode(input));
    if (compiled instanceof CompileErrors) {
      const text = compiled.toText();
      if (text === '') throw new Error('refused without a reason');
      throw badRequest(text);
    }
    if (compiled instanceof ProgramFailure) throw badRequest(compiled.message);
    const first = compiled.evaluate(bindings, { costLimit, authorizer: never });
    return () => {
      if (first.kind === 'pending') return 'pending, though every question is answered';
      if (!Number.isSafeInteger(first.cost) || first.cost < 0) return `cost ${String(first.cost)}`;
      const isCancelled = first.kind === 'error' && first.isCancelled;
      if (first.cost > costLimit && !isCancelled) return 'over the limit, and not cancelled';
      const second = compiled.evaluate(bindings, { costLimit, authorizer: never });
      const isSame = second.kind === first.kind && second.cost === first.cost;
      return isSame ? undefined : 'a second evaluation ends differently';
    };
  },
};
