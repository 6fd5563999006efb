// Probes and lifecycle hooks of a container. Which of them are looked at depends on the container,
// so that none of their rules are options of fields.
import type { FieldErrors } from '../../api/field-errors.ts';
import { formatOf, portNameProblems, portNumberProblems } from '../../api/formats.ts';
import { isSet, listAt, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { PodScope } from './pod-scope.ts';

export function validateProbes(container: JsonObject, path: string, scope: PodScope): void {
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = recordAt(container, name);
    if (probe !== undefined) validateProbe(probe, name, `${path}.${name}`, scope);
  }
}

const counts = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

function validateProbe(probe: JsonObject, name: string, path: string, scope: PodScope): void {
  const { errors } = scope;
  validateHandler(probe, path, scope);
  for (const count of counts) {
    const value = numberAt(probe, count) ?? 0;
    if (value < 0) {
      errors.invalid(`${path}.${count}`, value, 'must be greater than or equal to 0');
    }
  }
  const grace = numberAt(probe, 'terminationGracePeriodSeconds');
  const atGrace = `${path}.terminationGracePeriodSeconds`;
  if (grace !== undefined && grace <= 0) {
    errors.invalid(atGrace, grace, 'must be greater than 0');
  }
  if (name === 'readinessProbe') {
    if (grace === undefined) return;
    errors.invalid(atGrace, grace, 'must not be set for readinessProbes');
    return;
  }
  const successes = numberAt(probe, 'successThreshold') ?? 0;
  if (successes !== 1) errors.invalid(`${path}.successThreshold`, successes, 'must be 1');
}

export function validateLifecycle(container: JsonObject, path: string, scope: PodScope): void {
  const lifecycle = recordAt(container, 'lifecycle');
  if (lifecycle === undefined) return;
  for (const name of ['postStart', 'preStop']) {
    const handler = recordAt(lifecycle, name);
    if (handler !== undefined) validateHandler(handler, `${path}.lifecycle.${name}`, scope);
  }
  if (!isSet(lifecycle, 'stopSignal')) return;
  validateStopSignal(textAt(lifecycle, 'stopSignal'), `${path}.lifecycle.stopSignal`, scope);
}

const windowsSignals = ['SIGKILL', 'SIGTERM'];

/** That there is such a signal is an option of the field. */
function validateStopSignal(signal: string, path: string, { errors, osName }: PodScope): void {
  if (osName === '') {
    errors.forbidden(path, 'may not be set for containers with empty `spec.os.name`');
    return;
  }
  if (osName !== 'windows' || windowsSignals.includes(signal)) return;
  errors.notSupported(path, signal, windowsSignals);
}

type HandlerCheck = (handler: JsonObject, path: string, scope: PodScope) => void;

const validateExec: HandlerCheck = (exec, path, { errors }) => {
  if (listAt(exec, 'command').length === 0) errors.required(`${path}.command`);
};

const httpSchemes = ['HTTP', 'HTTPS'];
const headerNameProblems = formatOf('httpHeaderName');

const validateHttp: HandlerCheck = (http, path, { errors }) => {
  if (textAt(http, 'path') === '') errors.required(`${path}.path`);
  validatePort(http['port'], `${path}.port`, errors);
  const scheme = textAt(http, 'scheme');
  if (!httpSchemes.includes(scheme)) errors.notSupported(`${path}.scheme`, scheme, httpSchemes);
  for (const header of recordsAt(http, 'httpHeaders')) {
    const name = textAt(header, 'name');
    errors.problems(`${path}.httpHeaders`, name, headerNameProblems?.(name) ?? []);
  }
};

const validateTcp: HandlerCheck = (tcp, path, { errors }) => {
  validatePort(tcp['port'], `${path}.port`, errors);
};

const validateGrpc: HandlerCheck = (grpc, path, { errors }) => {
  validatePort(numberAt(grpc, 'port'), `${path}.port`, errors);
};

const validateSleep: HandlerCheck = (sleep, path, { errors, graceSeconds }) => {
  const seconds = numberAt(sleep, 'seconds') ?? 0;
  if (seconds >= 0 && seconds <= graceSeconds) return;
  const detail =
    'must be non-negative and less than ' +
    `terminationGracePeriodSeconds (${String(graceSeconds)})`;
  errors.invalid(path, seconds, detail);
};

const handlerTypes: readonly (readonly [name: string, validate: HandlerCheck])[] = [
  ['exec', validateExec],
  ['httpGet', validateHttp],
  ['tcpSocket', validateTcp],
  ['grpc', validateGrpc],
  ['sleep', validateSleep],
];

/** The first type is the handler; each further one is refused, whatever it says. */
function validateHandler(handler: JsonObject, path: string, scope: PodScope): void {
  let count = 0;
  for (const [name, validate] of handlerTypes) {
    const value = recordAt(handler, name);
    if (value === undefined) continue;
    count += 1;
    const at = `${path}.${name}`;
    if (count === 1) validate(value, at, scope);
    else scope.errors.forbidden(at, 'may not specify more than 1 handler type');
  }
  if (count === 0) scope.errors.required(path, 'must specify a handler type');
}

/** A port by number or by name. */
export function validatePort(port: unknown, path: string, errors: FieldErrors): void {
  if (typeof port === 'string') errors.problems(path, port, portNameProblems(port));
  else {
    const number = typeof port === 'number' ? port : 0;
    errors.problems(path, number, portNumberProblems(number));
  }
}
