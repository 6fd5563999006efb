// Makes what the processes of one deployment need to believe each other, by a plan: CAs, keys,
// certificates, the administrator's kubeconfig. What is there and good is kept, so runs repeat.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fulfil } from './fulfil.ts';
import { readPlan } from './plan.ts';

const usage = `usage: main.ts --plan=FILE --out=FOLDER [--server=URL]
  --plan    which authorities, folders, certificates and keys there are (YAML)
  --out     one folder below it for each folder of the plan
  --server  where the kubeconfig finds the API; the plan's own without it
`;

async function main(): Promise<void> {
  const options = { plan: { type: 'string' }, out: { type: 'string' }, server: { type: 'string' } };
  const { values } = parseArgs({ options: options as never }) as {
    readonly values: Readonly<Record<string, string | undefined>>;
  };
  const { plan: planFile, out, server } = values;
  if (planFile === undefined || out === undefined) throw new Error(usage);
  const plan = readPlan(readFileSync(planFile, 'utf8'));
  const changes = await fulfil(plan, { out, ...(server === undefined ? {} : { server }) });
  for (const change of changes) process.stdout.write(`${change}\n`);
  process.stdout.write(changes.length === 0 ? 'nothing to do\n' : '');
}

main().catch((error: unknown) => {
  process.stderr.write(
    `cluster-secrets: ${Error.isError(error) ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
});
