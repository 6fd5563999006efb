// The kinds of flag values: each reads a text or says what would be right. Texts are as
// kube-apiserver takes them.
import { BlockList, isIP } from 'node:net';
import { limits } from '../base/limits.ts';

export interface FlagKind<T> {
  /** Shown in --help after the name. */
  readonly placeholder: string;
  /** @throws Error that says what would be right, without the flag's name. */
  parse(text: string): T;
  /** Several occurrences are joined; absent: a flag given twice is refused. */
  readonly join?: (texts: readonly string[]) => string;
  /** Given without a value it means this text. */
  readonly bare?: string;
}

export const text: FlagKind<string> = { placeholder: 'string', parse: (given) => given };

export const path: FlagKind<string> = {
  placeholder: 'file',
  parse: (given) => {
    if (given === '') throw new Error('must name a file');
    return given;
  },
};

export const bool: FlagKind<boolean> = {
  placeholder: '',
  bare: 'true',
  parse: (given) => {
    if (/^(true|t|1)$/i.test(given)) return true;
    if (/^(false|f|0)$/i.test(given)) return false;
    throw new Error('must be true or false');
  },
};

export function integer(min: number, max: number): FlagKind<number> {
  return {
    placeholder: 'int',
    parse: (given) => {
      const value = Number(given);
      if (/^-?\d+$/.test(given) && value >= min && value <= max) return value;
      throw new Error(`must be a whole number from ${String(min)} to ${String(max)}`);
    },
  };
}

export const workers: FlagKind<number | 'auto'> = {
  placeholder: 'int|auto',
  parse: (given) => {
    if (given === 'auto') return given;
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= 1 && value <= limits.workersMax) return value;
    throw new Error(`must be auto or a whole number from 1 to ${String(limits.workersMax)}`);
  },
};

export function fraction(min: number, max: number): FlagKind<number> {
  return {
    placeholder: 'float',
    parse: (given) => {
      const value = Number(given);
      if (given.trim() !== '' && value >= min && value <= max) return value;
      throw new Error(`must be a number from ${String(min)} to ${String(max)}`);
    },
  };
}

const unitMs: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/** Go's duration text (`1m30s`, `500ms`) to milliseconds. */
export const durationMs: FlagKind<number> = {
  placeholder: 'duration',
  parse: (given) => {
    if (given === '0') return 0;
    const parts = [...given.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)];
    if (parts.length === 0 || parts.map(([part]) => part).join('') !== given) {
      throw new Error('must be a duration such as 30s, 5m0s or 1h');
    }
    return parts.reduce(
      (sum, [, count, unit = '']) => sum + Number(count) * (unitMs.get(unit) ?? 0),
      0,
    );
  },
};

/** A duration that must not be 0. */
export const positiveDurationMs: FlagKind<number> = {
  placeholder: durationMs.placeholder,
  parse: (given) => {
    const value = durationMs.parse(given);
    if (value > 0) return value;
    throw new Error('must be longer than 0');
  },
};

/** Comma-separated, or given several times. */
export const list: FlagKind<readonly string[]> = {
  placeholder: 'strings',
  join: (texts) => texts.join(','),
  parse: (given) => given.split(',').filter((entry) => entry !== ''),
};

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  /** Empty: those in the certificate. */
  readonly names: readonly string[];
}

/** `certificate,key` or `certificate,key:name,name`, the flag once for each pair. */
export const certificateFiles: FlagKind<readonly CertificateFiles[]> = {
  placeholder: 'certificate,key[:name,…]',
  join: (texts) => texts.join(';'),
  parse: (given) =>
    given.split(';').map((entry) => {
      const [, cert, key, names = ''] = /^([^,]+),([^,:]+)(?::(.+))?$/.exec(entry) ?? [];
      if (cert === undefined || key === undefined) {
        throw new Error(`"${entry}" must be certificate,key or certificate,key:name,name`);
      }
      return { cert, key, names: list.parse(names) };
    }),
};

/** A list of names that HTTP headers can have (RFC 9110 §5.6.2). */
export const headerNames: FlagKind<readonly string[]> = {
  ...list,
  parse: (given) => {
    const names = list.parse(given);
    const wrong = names.find((name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name));
    if (wrong === undefined) return names;
    throw new Error(`"${wrong}" cannot be the name of a header`);
  },
};

/** Comma-separated `key=value`; a key alone means `key=true`. */
export const pairs: FlagKind<ReadonlyMap<string, string>> = {
  placeholder: 'key=value,…',
  join: (texts) => texts.join(','),
  parse: (given) => {
    const map = new Map<string, string>();
    for (const entry of given.split(',')) {
      if (entry.trim() === '') continue;
      const [key = '', value = 'true'] = entry.split(/=(.*)/s, 2).map((part) => part.trim());
      if (key === '') throw new Error(`"${entry}" has no key; write key=value`);
      map.set(key, value);
    }
    return map;
  },
};

/** Comma-separated `key=true|false`; a key alone means true. */
export const switches: FlagKind<ReadonlyMap<string, boolean>> = {
  placeholder: 'key=bool,…',
  join: (texts) => texts.join(','),
  parse: (given) => {
    const entries = [...pairs.parse(given)].map(
      ([key, value]) => [key, switched(key, value)] as const,
    );
    return new Map(entries);
  },
};

function switched(key: string, value: string): boolean {
  try {
    return bool.parse(value);
  } catch (cause) {
    throw new Error(`${key} must be true or false`, { cause });
  }
}

export function choice<const T extends string>(...values: readonly T[]): FlagKind<T> {
  return {
    placeholder: values.join('|'),
    parse: (given) => {
      const found = values.find((value) => value === given);
      if (found === undefined) throw new Error(`must be one of ${values.join(', ')}`);
      return found;
    },
  };
}

const reconcilers = choice('lease', 'none');

/** How replicas publish their addresses. */
export const reconcilerType: typeof reconcilers = {
  ...reconcilers,
  parse: (given) => {
    if (given !== 'master-count') return reconcilers.parse(given);
    throw new Error('is gone: lease does the same and need not know how many replicas there are');
  },
};

/** An address of this or another host; names and zones are none. */
export const ipAddress: FlagKind<string> = {
  placeholder: 'ip',
  parse: (given) => {
    if (isIP(given) !== 0 && !given.includes('%')) return given;
    throw new Error('must be an IP address such as 10.0.0.9 or ::1, without brackets');
  },
};

/** One network, or one of each family, comma-separated. */
export const networks: FlagKind<readonly string[]> = {
  placeholder: 'cidrs',
  parse: (given) => {
    const families = given.split(',').map(familyOfNetwork);
    if (families.length > 2 || (families.length === 2 && families[0] === families[1])) {
      throw new Error('must be one network, or one of IPv4 and one of IPv6');
    }
    return given.split(',');
  },
};

function familyOfNetwork(text: string): number {
  const [address = '', length = '', ...more] = text.split('/');
  const family = isIP(address);
  try {
    if (more.length > 0 || !/^\d{1,3}$/.test(length)) throw new Error('not ADDRESS/LENGTH');
    new BlockList().addSubnet(address, Number(length), family === 6 ? 'ipv6' : 'ipv4');
    return family;
  } catch (cause) {
    throw new Error(`"${text}" must be a network such as 10.96.0.0/16`, { cause });
  }
}

export interface GivenPorts {
  readonly first: number;
  readonly count: number;
}

/** `FIRST-LAST`, `FIRST+MORE` or one port. */
export const ports: FlagKind<GivenPorts> = {
  placeholder: 'ports',
  parse: (given) => {
    const [, from = '', sign, to = ''] = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(given.trim()) ?? [];
    const first = Number(from);
    const last = sign === undefined ? first : sign === '-' ? Number(to) : first + Number(to);
    if (from !== '' && first >= 1 && first <= last && last <= 65_535) {
      return { first, count: last - first + 1 };
    }
    throw new Error('must be ports such as 30000-32767, from 1 to 65535');
  },
};

/** URLs of etcd members, comma-separated or given several times. */
export const endpoints: FlagKind<readonly string[]> = {
  placeholder: 'urls',
  join: (texts) => texts.join(','),
  parse: (given) => {
    const urls = given.split(',').filter((entry) => entry !== '');
    if (urls.length === 0) throw new Error('must name at least one URL');
    for (const entry of urls) {
      if (memberUrl.test(entry) && URL.canParse(entry)) continue;
      throw new Error(`"${entry}" must be a URL such as https://127.0.0.1:2379`);
    }
    return urls;
  },
};

/** Scheme, host and port: no user, path or query. */
const memberUrl = /^https?:\/\/(\[[0-9a-fA-F:]+\]|[^/:[\]@?#\s]+)(:\d+)?\/?$/;
