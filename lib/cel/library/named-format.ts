// format.*: the named formats of texts, with the reasons why a text is not of a format.
import { parseRequestUri } from '../../base/request-uri.ts';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../api/name-rules.ts';
import { isBase64, isUuid } from '../../api/schema-formats.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { listType, optionalType, stringType, structType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { CostEstimate, Implementation, Library, RuntimeCost } from '../model/declarations.ts';
import { regexLengthFactor, scaleRange, stringTraversalFactor } from '../model/range.ts';
import { isDate, isDateTime } from '../model/text-formats.ts';
import { ArrayList, OptionalValue, codePointCount, optionalNone } from '../model/value.ts';
import type { OpaqueValue } from '../model/value.ts';
import { arg, declare, global, member, unit } from './declare.ts';
import { urlProblem } from './url.ts';

interface FormatRule {
  readonly name: string;
  /** Length of the regular expression that checking a text is charged as. */
  readonly patternLength: number;
  readonly problems: (text: string) => readonly string[];
}

class FormatValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName: string;
  readonly rule: FormatRule;
  constructor(typeName: string, rule: FormatRule) {
    this.typeName = typeName;
    this.rule = rule;
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof FormatValue && this.rule === other.rule;
  }
  toText(): string {
    return this.rule.name;
  }
}

/** A prefix may end in a dash: what follows it is not known yet. */
const prefix =
  (problems: (text: string) => readonly string[]) =>
  (text: string): readonly string[] =>
    problems(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);

const unless =
  (isValid: (text: string) => boolean, problem: string) =>
  (text: string): readonly string[] =>
    isValid(text) ? [] : [problem];

function uriProblems(text: string): readonly string[] {
  const parsed = parseRequestUri(text);
  return typeof parsed === 'string' ? [urlProblem(text, parsed)] : [];
}

const rules: Readonly<Record<string, FormatRule>> = {
  dns1123Label: { name: 'DNS1123Label', patternLength: 30, problems: dns1123LabelProblems },
  dns1123Subdomain: {
    name: 'DNS1123Subdomain',
    patternLength: 60,
    problems: dns1123SubdomainProblems,
  },
  dns1035Label: { name: 'DNS1035Label', patternLength: 30, problems: dns1035LabelProblems },
  qualifiedName: { name: 'QualifiedName', patternLength: 60, problems: qualifiedNameProblems },
  dns1123LabelPrefix: {
    name: 'DNS1123LabelPrefix',
    patternLength: 30,
    problems: prefix(dns1123LabelProblems),
  },
  dns1123SubdomainPrefix: {
    name: 'DNS1123SubdomainPrefix',
    patternLength: 60,
    problems: prefix(dns1123SubdomainProblems),
  },
  dns1035LabelPrefix: {
    name: 'DNS1035LabelPrefix',
    patternLength: 30,
    problems: prefix(dns1035LabelProblems),
  },
  labelValue: { name: 'LabelValue', patternLength: 40, problems: labelValueProblems },
  uri: { name: 'URI', patternLength: 1120, problems: uriProblems },
  uuid: {
    name: 'uuid',
    patternLength: 70,
    problems: unless(isUuid, 'does not match the UUID format'),
  },
  byte: {
    name: 'byte',
    patternLength: 84,
    problems: unless(isBase64, 'invalid base64'),
  },
  date: { name: 'date', patternLength: 71, problems: unless(isDate, 'invalid date') },
  datetime: {
    name: 'datetime',
    patternLength: 71,
    problems: unless(isDateTime, 'invalid datetime'),
  },
};

const validate: Implementation = (args) => {
  const problems = (arg(args, 0) as FormatValue).rule.problems(arg(args, 1) as string);
  return problems.length === 0 ? optionalNone : new OptionalValue(new ArrayList([...problems]));
};

const validateCost: RuntimeCost = (args) => {
  const [format, text] = args;
  if (!(format instanceof FormatValue) || typeof text !== 'string') return 1;
  const perText = Math.ceil((1 + codePointCount(text)) * stringTraversalFactor);
  return perText * Math.ceil(format.rule.patternLength * regexLengthFactor);
};

const patternLengthMax = 128;

const validateEstimate: CostEstimate = (_, [text]) =>
  text === undefined
    ? undefined
    : {
        cost: scaleRange(
          scaleRange(text.size, stringTraversalFactor),
          patternLengthMax * regexLengthFactor,
        ),
      };

export function namedFormatLibrary(naming: NamingProfile): Library {
  const type: CelType = {
    ...structType(naming.resolve('{kubernetes}.NamedFormat')),
    equality: 'format',
  };
  const values = new Map(
    Object.entries(rules).map(([name, rule]) => [name, new FormatValue(type.name, rule)]),
  );
  const named: Implementation = (args) => {
    const format = values.get(arg(args, 0) as string);
    return format === undefined ? optionalNone : new OptionalValue(format);
  };
  return {
    name: '{kubernetes}.format',
    since: 31,
    types: [type],
    functions: [
      declare(
        'validate',
        [
          member(
            'format-validate',
            [[type, stringType], optionalType(listType(stringType))],
            validate,
            {
              estimate: validateEstimate,
            },
          ),
        ],
        { runtimeCost: validateCost },
      ),
      declare(
        'format.named',
        [global('format-named', [[stringType], optionalType(type)], named)],
        unit,
      ),
      ...[...values].map(([name, value]) =>
        declare(`format.${name}`, [global(`format.${name}`, [[], type], () => value)]),
      ),
    ],
  };
}
