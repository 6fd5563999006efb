// Signing requests, trust bundles and certificate requests of pods.
import { X509Certificate } from 'node:crypto';
import {
  isSet,
  listAt,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { pemBlocks } from './pem.ts';
import { isSignedByItsKey } from './request-signature.ts';

const signerBytesMax = 571;

/** `<domain>/<path>` of who signs. */
function validateSignerName(signer: string, path: string, errors: FieldErrors): void {
  if (signer === '') return;
  const slash = signer.indexOf('/');
  if (slash < 0) {
    errors.invalid(
      path,
      signer,
      "must be a fully qualified domain and path of the form 'example.com/signer-name'",
    );
    return;
  }
  const [domain, rest] = [signer.slice(0, slash), signer.slice(slash + 1)];
  errors.problems(path, signer, dns1123SubdomainProblems(domain));
  if (!domain.includes('.')) {
    errors.invalid(path, signer, 'should be a domain with at least two segments separated by dots');
  }
  if (rest === '') {
    errors.invalid(path, signer, 'path must not be empty');
  } else errors.problems(path, signer, dns1123SubdomainProblems(rest));
  if (Buffer.byteLength(signer) > signerBytesMax) errors.tooLong(path, signerBytesMax);
}

const requestedSecondsMin = 600;

export const validateSigningRequest: Validator = (write) => {
  const { object, old, errors, naming, apiVersion } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const signer = textAt(spec, 'signerName');
  validateSignerName(signer, 'spec.signerName', errors);
  const unknown = naming.resolve('{kubernetes}.io/legacy-unknown');
  if (old === undefined && signer === unknown && apiVersion.endsWith('/v1')) {
    errors.invalid(
      'spec.signerName',
      signer,
      'the legacy signerName is not allowed via this API version',
    );
  }
  const problem = requestProblem(textAt(spec, 'request'));
  if (problem !== undefined) {
    errors.invalid('spec.request', valueAt(spec, 'request') ?? null, problem);
  }
  const seconds = numberAt(spec, 'expirationSeconds') ?? requestedSecondsMin;
  if (seconds < requestedSecondsMin) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
    errors.invalid('spec.expirationSeconds', seconds, detail);
  }
  validateConditions(write);
  validateCertificate(write);
};

function requestProblem(base64: string): string | undefined {
  const [block] = pemBlocks(Buffer.from(base64, 'base64').toString('latin1'));
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  return isSignedByItsKey(block.bytes) ? undefined : 'must be signed with the key that it names';
}

const onlyTrue = ['Approved', 'Denied', 'Failed'];

function validateConditions({ object, old, errors, subresource }: ValidatedWrite): void {
  const conditions = recordsAt(recordAt(object, 'status'), 'conditions');
  const seen = new Set<string>();
  for (const [at, condition] of conditions.entries()) {
    const path = `status.conditions[${String(at)}]`;
    const type = textAt(condition, 'type');
    const status = textAt(condition, 'status');
    if (onlyTrue.includes(type) && status !== '' && status !== 'True') {
      errors.notSupported(`${path}.status`, status, ['True']);
    }
    if (seen.has(type)) errors.duplicate(`${path}.type`, type);
    seen.add(type);
  }
  if (old === undefined) return;
  const before = recordsAt(recordAt(old, 'status'), 'conditions');
  for (const type of ['Approved', 'Denied', 'Failed']) {
    const had = before.filter((one) => textAt(one, 'type') === type);
    const has = conditions.filter((one) => textAt(one, 'type') === type);
    if (had.length > 0 && has.length === 0) {
      errors.forbidden('status.conditions', `updates may not remove a condition of type "${type}"`);
    } else if (
      had.length === 0 &&
      has.length > 0 &&
      type !== 'Failed' &&
      subresource !== 'approval'
    ) {
      errors.forbidden('status.conditions', `updates may not add a condition of type "${type}"`);
    }
  }
}

function validateCertificate({ object, old, errors, subresource }: ValidatedWrite): void {
  const text = textAt(recordAt(object, 'status'), 'certificate');
  const before = textAt(recordAt(old, 'status'), 'certificate');
  if (text === before) return;
  const path = 'status.certificate';
  if (old !== undefined && subresource !== 'status') {
    errors.forbidden(path, 'updates may not set certificate content');
  } else if (before !== '') {
    errors.forbidden(path, 'updates may not modify existing certificate content');
  }
  const blocks = pemBlocks(Buffer.from(text, 'base64').toString('latin1'));
  if (blocks.length === 0) {
    errors.invalid(path, '<certificate data>', 'must contain at least one CERTIFICATE PEM block');
  }
  for (const [at, block] of blocks.entries()) {
    const detail = `only CERTIFICATE PEM blocks are allowed, found "${block.type}"`;
    if (block.type !== 'CERTIFICATE') errors.invalid(path, '<certificate data>', detail);
    else if (block.hasHeaders) {
      errors.invalid(path, '<certificate data>', 'no PEM block headers are permitted');
    } else if (certificateOf(block.bytes) === undefined) {
      errors.invalid(path, '<certificate data>', `PEM block ${String(at)} is no certificate`);
    }
  }
}

function certificateOf(bytes: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}

export const validateTrustBundle: Validator = ({ object, old, errors }) => {
  const spec = recordAt(object, 'spec') ?? {};
  const path = 'spec.trustBundle';
  const shown = '<value omitted>';
  const text = textAt(spec, 'trustBundle');
  validateSignerName(textAt(spec, 'signerName'), 'spec.signerName', errors);
  if (old !== undefined && text === textAt(recordAt(old, 'spec'), 'trustBundle')) return;
  const blocks = pemBlocks(text);
  if (blocks.length === 0 && text !== '') {
    errors.invalid(path, shown, 'at least one trust anchor must be provided');
  }
  const seen = new Set<string>();
  for (const [at, block] of blocks.entries()) {
    const name = `entry ${String(at)}`;
    if (block.type !== 'CERTIFICATE') {
      errors.invalid(path, shown, `${name} has bad block type: ${block.type}`);
      continue;
    }
    if (block.hasHeaders) errors.invalid(path, shown, `${name} has PEM block headers`);
    const certificate = certificateOf(block.bytes);
    if (certificate === undefined) {
      errors.invalid(path, shown, `${name} does not parse as X.509`);
      continue;
    }
    if (!certificate.ca) errors.invalid(path, shown, `${name} does not have the CA bit set`);
    if (seen.has(certificate.fingerprint256)) {
      errors.invalid(path, shown, `${name} duplicates another one`);
    }
    seen.add(certificate.fingerprint256);
  }
};

const secondsMin = 3_600;
const secondsMax = 7_862_400;
const ownSecondsMax = 86_400;
const outcomes = ['Issued', 'Denied', 'Failed'];

export const validatePodCertificateRequest: Validator = ({ object, old, errors, naming }) => {
  const spec = recordAt(object, 'spec') ?? {};
  const signer = textAt(spec, 'signerName');
  validateSignerName(signer, 'spec.signerName', errors);
  const seconds = numberAt(spec, 'maxExpirationSeconds') ?? 0;
  const isOwn = signer.startsWith(`${naming.metadataDomain}/`);
  const most = isOwn ? ownSecondsMax : secondsMax;
  if (seconds < secondsMin || seconds > most) {
    const detail = `must be in the range [${String(secondsMin)}, ${String(most)}]`;
    errors.invalid('spec.maxExpirationSeconds', seconds, detail);
  }
  const status = recordAt(object, 'status');
  if (old === undefined || sameJson(status, recordAt(old, 'status'))) return;
  validateOutcome(status ?? {}, errors);
};

function validateOutcome(status: JsonObject, errors: FieldErrors): void {
  const found = recordsAt(status, 'conditions').filter((one) =>
    outcomes.includes(textAt(one, 'type')),
  );
  const path = 'status.conditions';
  if (found.length > 1) {
    errors.invalid(
      path,
      listAt(status, 'conditions'),
      'There may be at most one condition with type "Issued", "Denied", or "Failed"',
    );
  }
  for (const one of found) {
    if (textAt(one, 'status') === 'True') continue;
    errors.notSupported(`${path}.status`, textAt(one, 'status'), ['True']);
  }
  const chain = textAt(status, 'certificateChain');
  if (chain === '') return;
  const certificates = pemBlocks(chain).map((block) => certificateOf(block.bytes));
  const [leaf] = certificates;
  if (leaf === undefined || certificates.includes(undefined)) {
    errors.invalid('status.certificateChain', chain, 'must be PEM blocks of certificates');
    return;
  }
  validateTimes(status, leaf, errors);
}

/** The times in the status are those of the leaf; renewing begins between them. */
function validateTimes(status: JsonObject, leaf: X509Certificate, errors: FieldErrors): void {
  const time = (name: string): number => Date.parse(textAt(status, name));
  const bounds = [
    ['notBefore', leaf.validFromDate.getTime()],
    ['notAfter', leaf.validToDate.getTime()],
  ] as const;
  for (const [name, wanted] of bounds) {
    if (!isSet(status, name)) errors.required(`status.${name}`, `must be set when issued`);
    else if (time(name) !== wanted) {
      errors.invalid(
        `status.${name}`,
        textAt(status, name),
        'must agree with the leaf certificate',
      );
    }
  }
  const at = 'status.beginRefreshAt';
  if (!isSet(status, 'beginRefreshAt')) errors.required(at, 'must be set when issued');
  else if (
    time('beginRefreshAt') < time('notBefore') ||
    time('beginRefreshAt') > time('notAfter')
  ) {
    errors.invalid(at, textAt(status, 'beginRefreshAt'), 'must be between notBefore and notAfter');
  }
}
