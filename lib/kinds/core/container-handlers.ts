// Probes and lifecycle hooks of a container.
import type { FieldErrors } from '../../api/field-errors.ts';
import { portNameProblems, portNumberProblems } from '../../api/formats.ts';
import { isSet, numberAt, recordAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { PodScope } from './pod-scope.ts';

export function validateProbes(container: JsonObject, path: string, { errors }: PodScope): void {
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = recordAt(container, name);
    if (probe === undefined) continue;
    const where = `${path}.${name}`;
    validateHandler(probe, where, errors);
    if (name === 'readinessProbe') {
      const seconds = numberAt(probe, 'terminationGracePeriodSeconds');
      if (seconds === undefined) continue;
      const detail = 'must not be set for readinessProbes';
      errors.invalid(`${where}.terminationGracePeriodSeconds`, seconds, detail);
      continue;
    }
    const successes = numberAt(probe, 'successThreshold') ?? 0;
    if (successes > 1) errors.invalid(`${where}.successThreshold`, successes, 'must be 1');
  }
}

export function validateLifecycle(container: JsonObject, path: string, scope: PodScope): void {
  const lifecycle = recordAt(container, 'lifecycle');
  if (lifecycle === undefined) return;
  const { errors } = scope;
  for (const name of ['postStart', 'preStop']) {
    const handler = recordAt(lifecycle, name);
    if (handler === undefined) continue;
    validateHandler(handler, `${path}.lifecycle.${name}`, errors);
    const seconds = numberAt(recordAt(handler, 'sleep'), 'seconds');
    if (!isSet(handler, 'sleep')) continue;
    const value = seconds ?? 0;
    if (value >= 0 && value <= scope.graceSeconds) continue;
    const detail =
      'must be non-negative and not more than ' +
      `terminationGracePeriodSeconds (${String(scope.graceSeconds)})`;
    errors.invalid(`${path}.lifecycle.${name}.sleep.seconds`, value, detail);
  }
  validateStopSignal(textAt(lifecycle, 'stopSignal'), `${path}.lifecycle.stopSignal`, scope);
}

function validateStopSignal(signal: string, path: string, { errors, osName }: PodScope): void {
  if (signal === '') return;
  if (osName === '') {
    errors.forbidden(path, 'may not be set for containers with empty `spec.os.name`');
    return;
  }
  if (osName === 'windows' && !['SIGTERM', 'SIGKILL'].includes(signal)) {
    errors.notSupported(path, signal, ['SIGKILL', 'SIGTERM']);
  }
}

/** A rule of the fields requires exactly one handler. */
function validateHandler(handler: JsonObject, path: string, errors: FieldErrors): void {
  const http = recordAt(handler, 'httpGet');
  if (http !== undefined) {
    if (textAt(http, 'path') === '') errors.required(`${path}.httpGet.path`);
    validatePort(http['port'], `${path}.httpGet.port`, errors);
  }
  const tcp = recordAt(handler, 'tcpSocket');
  if (tcp !== undefined) validatePort(tcp['port'], `${path}.tcpSocket.port`, errors);
}

/** A port by number or by name. */
export function validatePort(port: unknown, path: string, errors: FieldErrors): void {
  if (typeof port === 'string') errors.problems(path, port, portNameProblems(port));
  else {
    const number = typeof port === 'number' ? port : 0;
    errors.problems(path, number, portNumberProblems(number));
  }
}
