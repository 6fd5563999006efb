// Names that the kinds of devices share: of drivers, pools, attributes and capacities.
import { cIdentifierProblems } from '../../api/formats.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';

const driverBytesMax = 63;
const poolBytesMax = 253;
const identifierBytesMax = 32;

export function validateDriver(name: string, path: string, errors: FieldErrors): void {
  if (name === '') {
    errors.required(path);
    return;
  }
  if (Buffer.byteLength(name) > driverBytesMax) errors.tooLong(path, driverBytesMax);
  errors.problems(path, name, dns1123SubdomainProblems(name.toLowerCase()));
}

/** Subdomains joined by slashes. */
export function validatePoolName(name: string, path: string, errors: FieldErrors): void {
  if (name === '') {
    errors.required(path);
    return;
  }
  if (Buffer.byteLength(name) > poolBytesMax) errors.tooLong(path, poolBytesMax);
  for (const part of name.split('/')) errors.problems(path, part, dns1123SubdomainProblems(part));
}

/** A name of a request, device or counter. */
export function validateLabelName(name: string, path: string, errors: FieldErrors): void {
  errors.problems(path, name, dns1123LabelProblems(name));
}

/** `[domain/]identifier`; what has more slashes is taken as it is. */
export function validateQualifiedName(name: string, path: string, errors: FieldErrors): void {
  const [first = '', second, more] = name.split('/');
  if (more !== undefined) return;
  if (second === undefined) {
    validateIdentifier(first, path, errors);
    return;
  }
  if (first === '') errors.invalid(path, '', 'the domain must not be empty');
  else validateDriver(first, path, errors);
  if (second === '') errors.invalid(path, '', 'the name must not be empty');
  else validateIdentifier(second, path, errors);
}

/** `domain/identifier`. */
export function validateFullyQualifiedName(name: string, path: string, errors: FieldErrors): void {
  validateQualifiedName(name, path, errors);
  if (name.includes('/')) return;
  const detail = 'a fully qualified name must be a domain and a name separated by a slash';
  errors.invalid(path, name, detail);
}

function validateIdentifier(id: string, path: string, errors: FieldErrors): void {
  if (Buffer.byteLength(id) > identifierBytesMax) errors.tooLong(path, identifierBytesMax);
  errors.problems(path, id, cIdentifierProblems(id));
}

const hex = '[0-9a-f]';
const uuid = `${hex}{8}(-${hex}{4}){3}-${hex}{12}`;
const normalUuid = new RegExp(`^${uuid}$`);
const anyUuid = new RegExp(`^(${uuid}|urn:uuid:${uuid}|\\{${uuid}\\}|${hex}{32})$`, 'i');
const uuidLengths: readonly number[] = [32, 36, 38, 45];

/** The identity of a share of a device: a UUID in its normal form. */
export function validateShareId(id: string, path: string, errors: FieldErrors): void {
  if (normalUuid.test(id)) return;
  const bytes = Buffer.byteLength(id);
  const problem = uuidLengths.includes(bytes) ? 'format' : `length: ${String(bytes)}`;
  const detail = anyUuid.test(id)
    ? 'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` ' +
      'with lowercase hexadecimal characters'
    : `error validating uid: invalid UUID ${problem}`;
  errors.invalid(path, id, detail);
}
