// Structured logs: one JSON object a line on standard error. Values under secret-looking keys are
// never written.

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to every line. */
  with(fields: LogFields): Logger;
}

const levels: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
const secretKey = /authorization|cookie|token|password|secret|private|credential/i;

/** Writes lines at or above `minimum` to `write` (default: standard error). */
export function createLogger(
  minimum: LogLevel = 'info',
  write: (line: string) => void = (line) => void process.stderr.write(line),
  bound: LogFields = {},
): Logger {
  const emit = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    if (levels[level] < levels[minimum]) return;
    const record = { time: new Date().toISOString(), level, message, ...bound, ...fields };
    write(`${JSON.stringify(record, redact)}\n`);
  };
  return {
    debug: (message, fields) => emit('debug', message, fields),
    info: (message, fields) => emit('info', message, fields),
    warn: (message, fields) => emit('warn', message, fields),
    error: (message, fields) => emit('error', message, fields),
    with: (fields) => createLogger(minimum, write, { ...bound, ...fields }),
  };
}

function redact(key: string, value: unknown): unknown {
  if (key !== '' && secretKey.test(key)) return '[redacted]';
  if (typeof value === 'bigint') return value.toString();
  if (Error.isError(value))
    return { name: value.name, message: value.message, stack: value.stack, cause: value.cause };
  return value;
}
