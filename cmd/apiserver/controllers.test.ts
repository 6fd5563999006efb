import { describe, expect, test } from '@jest/globals';
import { chosenControllers, controllerTable } from './controllers.ts';

const own = controllerTable.filter(({ isOwn }) => isOwn === true).map(({ name }) => name);
const others = controllerTable
  .filter(({ isOwn, isOffByDefault }) => isOwn !== true && isOffByDefault !== true)
  .map(({ name }) => name);

const chosen = (text: string): string[] =>
  chosenControllers(text === '' ? [] : text.split(','))
    .map(({ name }) => name)
    .filter((name) => !own.includes(name));

describe('--controllers', () => {
  test.each<[string, string[]]>([
    ['*', others],
    ['', []],
    ['-*', []],
    ['namespace-controller', ['namespace-controller']],
    ['namespace', ['namespace-controller']],
    ['*,-namespace-controller', others.filter((name) => name !== 'namespace-controller')],
    ['-namespace,*', others.filter((name) => name !== 'namespace-controller')],
    ['-*,namespace-controller', ['namespace-controller']],
    ['namespace-controller,-namespace-controller', ['namespace-controller']],
    ['-namespace-controller', []],
    ['*,tokencleaner', [...others, 'token-cleaner-controller']],
    ['bootstrap-signer-controller,*', [...others, 'bootstrap-signer-controller']],
    [
      '*,tokencleaner,bootstrapsigner',
      [...others, 'token-cleaner-controller', 'bootstrap-signer-controller'],
    ],
    ['*,tokencleaner,-bootstrapsigner', [...others, 'token-cleaner-controller']],
  ])('%s chooses %j', (text, names) => {
    expect(chosen(text)).toEqual(names);
  });

  test.each(['deployment-controller', '-nobody', '', '-', '**'])('%j is refused', (entry) => {
    expect(() => chosenControllers(['*', entry])).toThrow(
      /is no controller .*namespace-controller/,
    );
  });

  test('has no say in what no other process does', () => {
    expect(chosenControllers([]).map(({ name }) => name)).toEqual(own);
    expect(own).toContain('definition-controller');
    expect(() => chosenControllers(['*', '-definition-controller'])).toThrow('is no controller');
  });

  test('names each controller once', () => {
    const names = controllerTable.flatMap(({ name, alias }) => [name, ...(alias ? [alias] : [])]);
    expect(new Set(names).size).toBe(names.length);
  });
});
