// Makes what the processes of one deployment need to believe each other, by a plan: CAs, keys,
// certificates, the administrator's kubeconfig. What is there and good is kept, so runs repeat.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fulfil } from './fulfil.ts';
import { readPlan } from './plan.ts';
import { rotationSteps } from './rotation.ts';

const usage = `usage: main.ts --plan=FILE --out=FOLDER [--server=URL] [--STEP=NAME]
  --plan    which authorities, folders, certificates and keys there are (YAML)
  --out     one folder below it for each folder of the plan
  --server  where the kubeconfig finds the API; the plan's own without it
  --introduce, --switch, --retire
            a step of replacing the authority or the signing key of that name; after each one
            wait until everyone has the files as they are then
`;

async function main(): Promise<void> {
  const names = ['plan', 'out', 'server', ...rotationSteps];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  const { values } = parseArgs({ options: options as never }) as {
    readonly values: Readonly<Record<string, string | undefined>>;
  };
  const { plan: planFile, out, server } = values;
  if (planFile === undefined || out === undefined) throw new Error(usage);
  const steps = rotationSteps.flatMap((step) => {
    const name = values[step];
    return name === undefined ? [] : [{ step, name }];
  });
  if (steps.length > 1) throw new Error(`one step at a time\n${usage}`);
  const plan = readPlan(readFileSync(planFile, 'utf8'));
  const changes = await fulfil(plan, {
    out,
    ...(server === undefined ? {} : { server }),
    ...(steps[0] === undefined ? {} : { step: steps[0] }),
  });
  for (const change of changes) process.stdout.write(`${change}\n`);
  process.stdout.write(changes.length === 0 ? 'nothing to do\n' : '');
}

main().catch((error: unknown) => {
  process.stderr.write(
    `cluster-secrets: ${Error.isError(error) ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
});
