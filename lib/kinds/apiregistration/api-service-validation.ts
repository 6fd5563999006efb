// API services: served locally, or by a service that is reached safely.
import type { FieldErrors } from '../../api/field-errors.ts';
import { portNumberProblems } from '../../api/formats.ts';
import { flagAt, numberAt, recordAt, textAt } from '../../api/json-access.ts';
import {
  dns1035LabelProblems,
  dns1123SubdomainProblems,
  nameProblems,
} from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

export const validateApiService: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  validateNameOnUpdate(write);
  const group = textAt(spec, 'group');
  const version = textAt(spec, 'version');
  if (group === '' && version !== 'v1') {
    const detail = 'only v1 may have an empty group and it better be legacy kube';
    errors.required('spec.group', detail);
  }
  if (group !== '') errors.problems('spec.group', group, dns1123SubdomainProblems(group));
  errors.problems('spec.version', version, dns1035LabelProblems(version));
  validatePriorities(spec, errors);
  const service = recordAt(spec, 'service');
  if (service === undefined) validateLocal(spec, errors);
  else validateRemote(spec, service, errors);
};

/** What the name is made of may change, which a name cannot follow. */
function validateNameOnUpdate({ object, old, errors }: ValidatedWrite): void {
  if (old === undefined) return;
  const metadata = recordAt(object, 'metadata');
  for (const [member, isPrefix] of [
    ['generateName', true],
    ['name', false],
  ] as const) {
    const name = textAt(metadata, member);
    if (name === '') continue;
    const problems = nameProblems('versionDotGroup', name, { isPrefix, object });
    errors.problems(`metadata.${member}`, name, problems);
  }
}

const priorities = [
  ['groupPriorityMinimum', 20_000],
  ['versionPriority', 1_000],
] as const;

function validatePriorities(spec: JsonObject, errors: FieldErrors): void {
  for (const [name, most] of priorities) {
    const priority = numberAt(spec, name) ?? 0;
    if (priority > 0 && priority <= most) continue;
    errors.invalid(`spec.${name}`, priority, `must be positive and less than ${String(most)}`);
  }
}

function validateLocal(spec: JsonObject, errors: FieldErrors): void {
  const bytes = Buffer.from(textAt(spec, 'caBundle'), 'base64').length;
  if (bytes > 0) {
    const detail = 'local APIServices may not have a caBundle';
    errors.invalid('spec.caBundle', `${String(bytes)} bytes`, detail);
  }
  if (flagAt(spec, 'insecureSkipTLSVerify')) {
    const detail = 'local APIServices may not have insecureSkipTLSVerify';
    errors.invalid('spec.insecureSkipTLSVerify', true, detail);
  }
}

function validateRemote(spec: JsonObject, service: JsonObject, errors: FieldErrors): void {
  for (const name of ['namespace', 'name']) {
    if (textAt(service, name) === '') errors.required(`spec.service.${name}`);
  }
  const port = numberAt(service, 'port') ?? 0;
  const problems = portNumberProblems(port).map((problem) => `port is not valid: ${problem}`);
  errors.problems('spec.service.port', port, problems);
  if (flagAt(spec, 'insecureSkipTLSVerify') && textAt(spec, 'caBundle') !== '') {
    const detail = 'may not be true if caBundle is present';
    errors.invalid('spec.insecureSkipTLSVerify', true, detail);
  }
}
