// Stock kubectl as a process of its own, which knows one server and no other configuration.
import { spawnSync } from 'node:child_process';

export const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

export interface KubectlResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface KubectlHome {
  readonly kubeconfig: string;
  /** Where it keeps what it has discovered. */
  readonly home: string;
}

export const kubectlEnvironment = ({ kubeconfig, home }: KubectlHome): NodeJS.ProcessEnv => ({
  ...process.env,
  KUBECONFIG: kubeconfig,
  HOME: home,
});

export function runKubectl(
  at: KubectlHome,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): KubectlResult {
  const result = spawnSync('kubectl', args, {
    encoding: 'utf8',
    env: { ...kubectlEnvironment(at), ...environment },
    timeout: 60_000,
  });
  return { code: result.status, out: result.stdout, err: result.stderr };
}
