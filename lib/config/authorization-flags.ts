// Flags of who may do what.
import { optional, required } from './flag.ts';
import { choice, durationMs, list, path } from './flag-kinds.ts';
import type { FlagKind } from './flag-kinds.ts';

const section = 'Authorization';

/** Types of authorizers, in the flag and in the file, as kube-apiserver has them. */
export const authorizationModes = [
  'AlwaysAllow',
  'AlwaysDeny',
  'ABAC',
  'Webhook',
  'RBAC',
  'Node',
] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

const mode = choice(...authorizationModes);

const modes: FlagKind<readonly AuthorizationMode[]> = {
  ...list,
  parse: (given) => {
    const names = given.split(',').map((name) => named(name.trim()));
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new Error(`names ${twice} twice`);
    return names;
  },
};

function named(name: string): AuthorizationMode {
  try {
    return mode.parse(name);
  } catch (cause) {
    const known = authorizationModes.join(', ');
    throw new Error(`${JSON.stringify(name)} is no mode; there are ${known}`, { cause });
  }
}

export const authorizationFlags = {
  'authorization-mode': required(
    section,
    modes,
    'Node,RBAC',
    'Who decides what a request may do, in this order: the first that allows or denies. ' +
      `Comma-separated, each once: ${authorizationModes.join(', ')}.`,
  ),
  'authorization-config': optional(
    section,
    path,
    'Who decides, as a file: an AuthorizationConfiguration in YAML or JSON, read again when it ' +
      'changes. In place of --authorization-mode and --authorization-webhook-*.',
  ),
  'authorization-policy-file': optional(
    section,
    path,
    'Policies of the mode ABAC, one a line in JSON.',
  ),
  'authorization-webhook-config-file': optional(
    section,
    path,
    'Client configuration file of the service that the mode Webhook asks.',
  ),
  'authorization-webhook-version': required(
    section,
    choice('v1beta1', 'v1'),
    'v1beta1',
    'Version of the SubjectAccessReview that the mode Webhook sends and expects.',
  ),
  'authorization-webhook-cache-authorized-ttl': required(
    section,
    durationMs,
    '5m0s',
    'How long the mode Webhook keeps an answer that allows; 0 keeps none.',
  ),
  'authorization-webhook-cache-unauthorized-ttl': required(
    section,
    durationMs,
    '30s',
    'How long the mode Webhook keeps an answer that does not allow; 0 keeps none.',
  ),
  'authorization-always-allow-paths': required(
    section,
    list,
    '',
    'Paths that are no resources and open to everybody who is not refused before, for example ' +
      '/healthz,/livez,/readyz; one that ends in * is of all that begin so.',
  ),
} as const;
