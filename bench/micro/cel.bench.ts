// The expression engine beside the fastest npm library in one run; compile times and the memory of
// compiled rules. Run: node --expose-gc bench/micro/cel.bench.ts [FOLDER of case files, for the
// memory]
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Environment as LibraryEnvironment } from '@marcbachmann/cel-js';
import { loadSchema } from '../../lib/api/load-schema.ts';
import { sourceOf } from '../../lib/api/testing/schema-types.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { CompileErrors, Environment, ProgramFailure } from '../../lib/cel/environment.ts';
import type { Program } from '../../lib/cel/program.ts';
import { objectTypesOf, sizesFrom } from '../../lib/cel/schema/declared-type.ts';
import { wrapFor } from '../../lib/cel/schema/typed-json.ts';
import { declaredType } from '../../lib/cel/schema/value-types.ts';
import { compileSchemaRules } from '../../lib/cel/use/schema-rules.ts';
import { policyEnvironment } from '../../lib/cel/use/policy-environment.ts';
import { samplePod } from './sample-pod.ts';

const naming = namingProfile('kubernetes');
const schema = loadSchema(
  {
    type: 'object',
    properties: {
      replicas: { type: 'integer' },
      max: { type: 'integer' },
      items: { type: 'array', items: { type: 'integer' } },
      first: { type: 'string' },
      last: { type: 'string' },
    },
  },
  sourceOf('Sample'),
);
const type = declaredType(schema, 'Sample');
if (type === undefined) throw new Error('the schema has a type');
const environment = new Environment({
  naming,
  variables: [{ name: 'self', type: type.celType, wrap: wrapFor(schema) }],
  objects: objectTypesOf([type], true),
  sizes: sizesFrom(type),
});
const library = new LibraryEnvironment().registerVariable('self', 'map');

const items = Array.from({ length: 100 }, (_, index) => index);
const self = { replicas: 3, max: 5, items, first: 'Ada', last: 'Lovelace' };
const librarySelf = { ...self, replicas: 3n, max: 5n, items: items.map(BigInt) };

function compile(target: Environment, text: string): Program {
  const compiled = target.compile(text);
  if (compiled instanceof CompileErrors) throw new Error(compiled.toText());
  if (compiled instanceof ProgramFailure) throw new Error(compiled.message);
  return compiled;
}

/** CPU nanoseconds a call. */
function measureRound(run: () => unknown, calls: number): number {
  const started = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) run();
  const { user, system } = process.cpuUsage(started);
  return ((user + system) * 1e3) / calls;
}

function median(rounds: number[]): number {
  rounds.sort((one, other) => one - other);
  return rounds[Math.floor(rounds.length / 2)] ?? NaN;
}

/** Median over rounds of CPU nanoseconds a call. */
function measure(run: () => unknown, calls: number): number {
  return median(Array.from({ length: 25 }, () => measureRound(run, calls)));
}

/** Both in turns, so that a busy machine slows both: the medians of rounds. */
function measureBoth(one: () => unknown, other: () => unknown, calls: number): [number, number] {
  const rounds: [number[], number[]] = [[], []];
  for (let round = 0; round < 25; round += 1) {
    rounds[0].push(measureRound(one, calls));
    rounds[1].push(measureRound(other, calls));
  }
  return [median(rounds[0]), median(rounds[1])];
}

function beside(text: string, callsPerRound: number): void {
  const program = compile(environment, text);
  const bindings = { self };
  const evaluate = library.parse(text);
  const libraryBindings = { self: librarySelf };
  const [ours, theirs] = measureBoth(
    () => program.evaluate(bindings),
    () => evaluate(libraryBindings) as unknown,
    callsPerRound,
  );
  const perSecond = (nanos: number): string => `${(1e3 / nanos).toFixed(2)}M/s`;
  const ratio = (theirs / ours).toFixed(2);
  const rates = `${perSecond(ours).padStart(10)} library ${perSecond(theirs).padStart(10)}`;
  console.log(`${text.padEnd(40)} ${rates}  ${ratio}x`);
}

beside('self.replicas <= self.max', 200_000);
beside('self.items.all(i, i >= 0)', 2_000);
beside('self.first + " " + self.last', 200_000);

const rule = 'self.items.all(i, i < self.max) && self.first.startsWith("A")';
const micros = measure(() => compile(environment, rule), 500) / 1e3;
console.log(
  `${'compile, check and estimate a rule'.padEnd(40)} ${micros.toFixed(1).padStart(8)} µs`,
);

const policies = policyEnvironment({ naming, hasParams: false, hasAuthorizer: false });
const onPod = compile(policies, 'object.spec.containers.all(c, c.image.contains("/"))');
const object = samplePod(1);
const podMicros = measure(() => onPod.evaluate({ object }), 5_000) / 1e3;
console.log(`${'a rule on a plain Pod'.padEnd(40)} ${podMicros.toFixed(2).padStart(8)} µs`);

const folder = process.argv[2];
if (folder !== undefined && existsSync(folder)) measureMemory(folder);

/** Memory that stays for the compiled rules of all cases, beside their schemas. */
function measureMemory(cases: string): void {
  const schemas = readdirSync(cases)
    .filter((file) => /^crd_(validation|cost_\w+)\.json$/.test(file))
    .flatMap((file) => JSON.parse(readFileSync(join(cases, file), 'utf8')) as { schema: unknown }[])
    .map((record) => loadSchema(record.schema, sourceOf('Case')))
    .filter((read) => (read.schema?.rules.length ?? 0) > 0);
  const collect = (): number => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  for (const one of schemas.slice(0, 50)) compileSchemaRules(one, { naming });
  const before = collect();
  const kept = schemas.map((one) => compileSchemaRules(one, { naming }));
  const count = kept.reduce((sum, compiled) => sum + compiled.rules.length, 0);
  const bytes = (collect() - before) / count;
  const size = `${(bytes / 1024).toFixed(1).padStart(8)} KB`;
  console.log(`${'memory of a compiled rule'.padEnd(40)} ${size} (${String(count)} rules)`);
}
