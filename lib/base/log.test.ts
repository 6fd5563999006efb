import { describe, expect, test } from '@jest/globals';
import { createLogger } from './log.ts';
import type { LogLevel } from './log.ts';

const logged = (write: (logger: ReturnType<typeof createLogger>) => void, level?: LogLevel) => {
  const lines: string[] = [];
  write(createLogger(level, (line) => void lines.push(line)));
  return lines;
};

describe('a log line', () => {
  test('is one JSON object', () => {
    const [line = ''] = logged((logger) => logger.with({ a: 1 }).info('x\ny', { b: 2n }));
    expect(line).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(line)).toMatchObject({ level: 'info', message: 'x\ny', a: 1, b: '2' });
  });

  test.each(['authorization', 'Cookie', 'bearerToken', 'password', 'clientSecret', 'privateKey'])(
    'never shows a value under %s, at any depth',
    (key) => {
      const [line = ''] = logged((logger) => logger.warn('x', { a: [{ [key]: { b: 'canary' } }] }));
      expect(line).not.toContain('canary');
      expect(line).toContain('[redacted]');
    },
  );

  test('shows errors with stack and cause', () => {
    const error = new Error('outer', { cause: new Error('inner') });
    const [line = ''] = logged((logger) => logger.error('x', { error }));
    expect(JSON.parse(line)).toMatchObject({
      error: {
        message: 'outer',
        stack: expect.stringContaining('log.test'),
        cause: { message: 'inner' },
      },
    });
  });

  test('of a level below the minimum is not written', () => {
    const write = (logger: ReturnType<typeof createLogger>): void => {
      logger.debug('a');
      logger.info('b');
      logger.warn('c');
    };
    expect(logged(write, 'warn')).toHaveLength(1);
    expect(logged(write)).toHaveLength(2);
  });
});
