// ip() and cidr(): addresses and prefixes as values.
import { boolType, intType, opaqueType, stringType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { CostEstimate, Implementation, Library, RuntimeCost } from '../model/declarations.ts';
import { addRanges, one, scaleRange, stringTraversalFactor } from '../model/range.ts';
import { CelError, costSizeOf } from '../model/value.ts';
import type { OpaqueValue, Value } from '../model/value.ts';
import {
  addressTests,
  formatAddress,
  formatPrefix,
  isMappedV4,
  maskAddress,
  parseAddress,
  parsePrefix,
  prefixContains,
  sameAddress,
} from './address.ts';
import type { Address, Prefix } from './address.ts';
import { arg, declare, global, member, traversalOf, unit } from './declare.ts';

const ipType: CelType = { ...opaqueType('net.IP'), equality: 'fixed' };
const cidrType: CelType = { ...opaqueType('net.CIDR'), equality: 'fixed' };

class IpValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName = 'net.IP';
  readonly address: Address;
  constructor(address: Address) {
    this.address = address;
  }
  get costSize(): number {
    return this.address.bytes.length;
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof IpValue && sameAddress(this.address, other.address);
  }
  toText(): string {
    return formatAddress(this.address);
  }
}

class CidrValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName = 'net.CIDR';
  readonly prefix: Prefix;
  constructor(prefix: Prefix) {
    this.prefix = prefix;
  }
  get costSize(): number {
    return Math.ceil(this.prefix.bits / 8);
  }
  equals(other: OpaqueValue): boolean {
    if (!(other instanceof CidrValue)) return false;
    return (
      this.prefix.bits === other.prefix.bits &&
      sameAddress(this.prefix.address, other.prefix.address)
    );
  }
  toText(): string {
    return formatPrefix(this.prefix);
  }
}

function ipOf(text: string): IpValue | CelError {
  const quoted = JSON.stringify(text);
  const address = parseAddress(text);
  if (address === 'zone')
    return new CelError(`IP address ${quoted} with zone value is not allowed`);
  if (typeof address === 'string') {
    return new CelError(
      `IP Address ${quoted} parse error during conversion from string: ${address}`,
    );
  }
  if (isMappedV4(address)) return new CelError(`IPv4-mapped IPv6 address ${quoted} is not allowed`);
  return new IpValue(address);
}

// Clients know it twice where the text is no prefix at all.
const cidrProblem = 'network address parse error during conversion from string: ';

function cidrOf(text: string): CidrValue | CelError {
  const prefix = parsePrefix(text);
  if (typeof prefix === 'string') {
    return new CelError(`${cidrProblem}${cidrProblem}${prefix}`);
  }
  if (isMappedV4(prefix.address)) {
    const problem = `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`;
    return new CelError(`${cidrProblem}${problem}`);
  }
  return new CidrValue(prefix);
}

const textAt = (args: readonly Value[], index: number): string => arg(args, index) as string;
const addressAt = (args: readonly Value[], index: number): Address =>
  (arg(args, index) as IpValue).address;
const prefixAt = (args: readonly Value[], index: number): Prefix =>
  (arg(args, index) as CidrValue).prefix;

const isCanonical: Implementation = (args) => {
  const ip = ipOf(textAt(args, 0));
  return ip instanceof CelError ? ip : ip.toText() === textAt(args, 0);
};

function containsAddress(prefix: Prefix, ip: IpValue | CelError): Value {
  return ip instanceof CelError ? ip : prefixContains(prefix, ip.address);
}

function containsPrefix(outer: Prefix, cidr: CidrValue | CelError): Value {
  if (cidr instanceof CelError) return cidr;
  return outer.bits <= cidr.prefix.bits && prefixContains(outer, cidr.prefix.address);
}

const pass = (factor: number): { runtimeCost: RuntimeCost; estimate: CostEstimate } => ({
  runtimeCost: traversalOf(0, factor),
  estimate: (_, [text]) =>
    text === undefined ? undefined : { cost: scaleRange(text.size, factor) },
});

const parsing = pass(stringTraversalFactor);

const addressSize = { min: 4n, max: 16n };
const comparing = scaleRange(addRanges(addressSize, addressSize), stringTraversalFactor);

const factorOf = (size: number): number => Math.ceil(size * stringTraversalFactor);

const containsIpCost: RuntimeCost = (args, _, overload) => {
  const size = costSizeOf(arg(args, 0));
  const parse = overload === 'cidr_contains_ip_string' ? factorOf(costSizeOf(arg(args, 1))) : 0;
  return factorOf(size + size) + parse;
};

const containsCidrCost: RuntimeCost = (args, _, overload) => {
  const size = costSizeOf(arg(args, 0));
  const parse = overload === 'cidr_contains_cidr_string' ? factorOf(costSizeOf(arg(args, 1))) : 0;
  return factorOf(size + size) + factorOf(size) + 1 + parse;
};

const containsIpEstimate =
  (isText: boolean): CostEstimate =>
  (_, [other]) =>
    other === undefined
      ? undefined
      : {
          cost: isText
            ? addRanges(comparing, scaleRange(other.size, stringTraversalFactor))
            : comparing,
        };

const containsCidrEstimate =
  (isText: boolean): CostEstimate =>
  (_, [other]) => {
    if (other === undefined) return undefined;
    const cost = addRanges(
      addRanges(comparing, scaleRange(addressSize, stringTraversalFactor)),
      one,
    );
    return { cost: isText ? addRanges(cost, scaleRange(other.size, stringTraversalFactor)) : cost };
  };

const test = (name: keyof typeof addressTests, id: string) =>
  declare(
    name,
    [member(id, [[ipType], boolType], (args) => addressTests[name](addressAt(args, 0)))],
    unit,
  );

export const ipLibrary: Library = {
  name: '{kubernetes}.net.ip',
  since: 30,
  types: [ipType],
  functions: [
    declare('ip', [
      global('string_to_ip', [[stringType], ipType], (args) => ipOf(textAt(args, 0)), parsing),
    ]),
    declare('isIP', [
      global(
        'is_ip',
        [[stringType], boolType],
        (args) => !(ipOf(textAt(args, 0)) instanceof CelError),
        parsing,
      ),
    ]),
    declare('ip.isCanonical', [
      global(
        'ip_is_canonical',
        [[stringType], boolType],
        isCanonical,
        pass(2 * stringTraversalFactor),
      ),
    ]),
    declare(
      'family',
      [
        member('ip_family', [[ipType], intType], (args) =>
          addressAt(args, 0).bytes.length === 4 ? 4 : 6,
        ),
      ],
      unit,
    ),
    test('isUnspecified', 'ip_is_unspecified'),
    test('isLoopback', 'ip_is_loopback'),
    test('isLinkLocalMulticast', 'ip_is_link_local_multicast'),
    test('isLinkLocalUnicast', 'ip_is_link_local_unicast'),
    test('isGlobalUnicast', 'ip_is_global_unicast'),
    declare('string', [
      global('ip_to_string', [[ipType], stringType], (args) => (arg(args, 0) as IpValue).toText()),
    ]),
  ],
};

export const cidrLibrary: Library = {
  name: '{kubernetes}.net.cidr',
  since: 30,
  types: [cidrType],
  functions: [
    declare('cidr', [
      global(
        'string_to_cidr',
        [[stringType], cidrType],
        (args) => cidrOf(textAt(args, 0)),
        parsing,
      ),
    ]),
    declare('isCIDR', [
      global(
        'is_cidr',
        [[stringType], boolType],
        (args) => !(cidrOf(textAt(args, 0)) instanceof CelError),
        parsing,
      ),
    ]),
    declare(
      'containsIP',
      [
        member(
          'cidr_contains_ip_string',
          [[cidrType, stringType], boolType],
          (args) => containsAddress(prefixAt(args, 0), ipOf(textAt(args, 1))),
          {
            estimate: containsIpEstimate(true),
          },
        ),
        member(
          'cidr_contains_ip_ip',
          [[cidrType, ipType], boolType],
          (args) => prefixContains(prefixAt(args, 0), addressAt(args, 1)),
          {
            estimate: containsIpEstimate(false),
          },
        ),
      ],
      { runtimeCost: containsIpCost },
    ),
    declare(
      'containsCIDR',
      [
        member(
          'cidr_contains_cidr_string',
          [[cidrType, stringType], boolType],
          (args) => containsPrefix(prefixAt(args, 0), cidrOf(textAt(args, 1))),
          {
            estimate: containsCidrEstimate(true),
          },
        ),
        member(
          'cidr_contains_cidr',
          [[cidrType, cidrType], boolType],
          (args) => containsPrefix(prefixAt(args, 0), arg(args, 1) as CidrValue),
          {
            estimate: containsCidrEstimate(false),
          },
        ),
      ],
      { runtimeCost: containsCidrCost },
    ),
    declare('ip', [
      member(
        'cidr_ip',
        [[cidrType], ipType],
        (args) => new IpValue(prefixAt(args, 0).address),
        unit,
      ),
    ]),
    declare(
      'prefixLength',
      [member('cidr_prefix_length', [[cidrType], intType], (args) => prefixAt(args, 0).bits)],
      unit,
    ),
    declare(
      'masked',
      [
        member('cidr_masked', [[cidrType], cidrType], (args) => {
          const { address, bits } = prefixAt(args, 0);
          return new CidrValue({ address: maskAddress(address, bits), bits });
        }),
      ],
      unit,
    ),
    declare('string', [
      global('cidr_to_string', [[cidrType], stringType], (args) =>
        (arg(args, 0) as CidrValue).toText(),
      ),
    ]),
  ],
};
