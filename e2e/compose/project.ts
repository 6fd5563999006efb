// What one run has of the set-up of docker-compose.yml: a project of its own, on ports of its own,
// beside whatever else this machine runs. Variables of the environment win.
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

const variables = {
  COMPOSE_PROJECT_NAME: 'svc-apiserver-e2e',
  APISERVER_PORT: '16443',
  PROMETHEUS_PORT: '19090',
  APISERVER_IMAGE: 'svc-apiserver:local',
} as const;

type Variable = keyof typeof variables;

const valueOf = (name: Variable): string => process.env[name] ?? variables[name];

export const project = {
  name: valueOf('COMPOSE_PROJECT_NAME'),
  image: valueOf('APISERVER_IMAGE'),
  apiserverUrl: `https://127.0.0.1:${valueOf('APISERVER_PORT')}`,
  prometheusUrl: `http://127.0.0.1:${valueOf('PROMETHEUS_PORT')}`,
} as const;

/** For compose, with variables of one command; the engine is that of DOCKER_HOST. */
export function composeEnvironment(more: Record<string, string> = {}): Record<string, string> {
  const names = Object.keys(variables) as Variable[];
  const own = Object.fromEntries(names.map((name) => [name, valueOf(name)]));
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { ...Object.fromEntries(inherited), ...own, ...more };
}
