// What comes of the findings of all validating policies of a request: the refusal, warnings, audit
// annotations.
import type { NamingProfile } from '../../api/vendor.ts';
import { limits } from '../../base/limits.ts';
import { StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import type { Binding, Policy } from './bindings.ts';
import type { Annotation, Finding } from './validate-one.ts';

interface Violation {
  readonly text: string;
  readonly reason: string;
}

interface AuditedFailure {
  readonly message: string;
  readonly policy: string;
  readonly binding: string;
  readonly expressionIndex: number;
  readonly validationActions: readonly string[];
}

const codes = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
} as const;
type Reason = keyof typeof codes;
const isReason = (text: string): text is Reason => Object.hasOwn(codes, text);

export class Verdict {
  readonly #request: AdmissionRequest;
  readonly #naming: NamingProfile;
  readonly #violations: Violation[] = [];
  readonly #audited: AuditedFailure[] = [];
  // `policy/key` → distinct values
  readonly #annotations = new Map<string, Set<string>>();

  constructor(request: AdmissionRequest, naming: NamingProfile) {
    this.#request = request;
    this.#naming = naming;
  }

  deny(policy: Policy, binding: Binding | undefined, { message, reason }: DeniedFor): void {
    const with_ = binding === undefined ? '' : ` with binding '${binding.name}'`;
    const text = `ValidatingAdmissionPolicy '${policy.name}'${with_} denied request: ${message}`;
    this.#violations.push({ text, reason });
  }

  warn(policy: Policy, binding: Binding, { message }: Finding): void {
    this.#request.warn(
      `Validation failed for ValidatingAdmissionPolicy '${policy.name}' ` +
        `with binding '${binding.name}': ${message}`,
    );
  }

  audit(policy: Policy, binding: Binding, { message, index }: Finding): void {
    this.#audited.push({
      message,
      policy: policy.name,
      binding: binding.name,
      expressionIndex: index,
      validationActions: binding.actions,
    });
  }

  annotate(policy: Policy, { key, value }: Annotation): void {
    const name = `${policy.name}/${key}`;
    const values = this.#annotations.get(name);
    const text = cut(value, limits.policyAnnotationBytesMax);
    if (values === undefined) this.#annotations.set(name, new Set([text]));
    else values.add(text);
  }

  /** @throws StatusError of the first violation, with each as a cause */
  end(object: Readonly<ApiObject> | undefined): void {
    for (const [key, values] of this.#annotations) {
      this.#request.annotate(key, [...values].join(', '));
    }
    if (this.#audited.length > 0) {
      const key = this.#naming.resolve('validation.policy.admission.{v}/validation_failure');
      this.#request.annotate(key, JSON.stringify(this.#audited));
    }
    const [first] = this.#violations;
    if (first === undefined) return;
    const { message, details } = refusal(this.#request, object, first.text);
    const causes = this.#violations.map(({ text }) => ({ message: text }));
    const reason = isReason(first.reason) ? first.reason : 'Invalid';
    throw new StatusError(codes[reason], reason, message, { ...details, causes });
  }
}

type DeniedFor = Pick<Finding, 'message' | 'reason'>;

/** At most so many bytes, of whole characters. */
function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
