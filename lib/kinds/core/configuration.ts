// ConfigMaps and secrets: keys, size, what a secret's type asks for, and freezing.
import { entriesAt, flagAt, isSet, recordAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { isObject } from '../../api/json-value.ts';
import { configMapKeyProblems } from '../../api/name-rules.ts';
import type { JsonValue } from '../../api/type-info.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

const bytesMax = 1_048_576;

const base64Bytes = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);

export const validateConfigMap: Validator = (write) => {
  const { object, errors } = write;
  let bytes = 0;
  for (const [key, value] of entriesAt(object, 'data')) {
    errors.problems(`data[${key}]`, key, configMapKeyProblems(key));
    if (isSet(recordAt(object, 'binaryData'), key)) {
      errors.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData');
    }
    bytes += Buffer.byteLength(typeof value === 'string' ? value : '');
  }
  for (const [key, value] of entriesAt(object, 'binaryData')) {
    errors.problems(`binaryData[${key}]`, key, configMapKeyProblems(key));
    bytes += base64Bytes(typeof value === 'string' ? value : '');
  }
  if (bytes > bytesMax) errors.tooLong('', bytesMax);
  validateFrozen(write, ['data', 'binaryData']);
};

/** `immutable: true` stays, and so does what it protects. */
function validateFrozen({ object, old, errors }: ValidatedWrite, names: readonly string[]): void {
  if (!flagAt(old, 'immutable')) return;
  const detail = 'field is immutable when `immutable` is set';
  if (!flagAt(object, 'immutable')) errors.forbidden('immutable', detail);
  for (const name of names) {
    if (!sameJson(object[name], old?.[name])) errors.forbidden(name, detail);
  }
}

export const validateSecret: Validator = (write) => {
  const { object, old, errors } = write;
  let bytes = 0;
  for (const [key, value] of entriesAt(object, 'data')) {
    errors.problems(`data[${key}]`, key, configMapKeyProblems(key));
    bytes += base64Bytes(typeof value === 'string' ? value : '');
  }
  if (bytes > bytesMax) errors.tooLong('data', bytesMax);
  validateType(write);
  if (old === undefined) return;
  if (textAt(object, 'type') !== textAt(old, 'type')) {
    errors.invalid('type', textAt(object, 'type'), 'field is immutable');
  }
  validateFrozen(write, ['data']);
};

function validateType({ object, errors, naming }: ValidatedWrite): void {
  const type = textAt(object, 'type');
  const prefix = naming.resolve('{kubernetes}.io/');
  if (!type.startsWith(prefix)) return;
  const data = recordAt(object, 'data');
  const need = (key: string): boolean => {
    if (data !== undefined && Object.hasOwn(data, key)) return true;
    errors.required(`data[${key}]`);
    return false;
  };
  const needJson = (key: string): void => {
    if (need(key) && !isJsonObject(data?.[key])) {
      errors.invalid(`data[${key}]`, '<secret contents redacted>', 'must be a valid json object');
    }
  };
  switch (type.slice(prefix.length)) {
    case 'service-account-token': {
      const key = `${prefix}service-account.name`;
      const annotations = recordAt(recordAt(object, 'metadata'), 'annotations');
      if (textAt(annotations, key) === '') errors.required(`metadata.annotations[${key}]`);
      break;
    }
    case 'dockercfg':
      needJson('.dockercfg');
      break;
    case 'dockerconfigjson':
      needJson('.dockerconfigjson');
      break;
    case 'basic-auth':
      if (!isSet(data, 'username') && !isSet(data, 'password')) {
        errors.required('data[username]');
        errors.required('data[password]');
      }
      break;
    case 'ssh-auth':
      if (textAt(data, 'ssh-privatekey') === '') errors.required('data[ssh-privatekey]');
      break;
    case 'tls':
      need('tls.crt');
      need('tls.key');
      break;
    default:
      break;
  }
}

/** What Docker's clients read into a map, which `null` leaves empty. */
function isJsonObject(value: JsonValue | undefined): boolean {
  try {
    const text = Buffer.from(typeof value === 'string' ? value : '', 'base64').toString();
    const read = JSON.parse(text) as JsonValue; // whatever JSON holds
    return read === null || isObject(read);
  } catch {
    return false;
  }
}
