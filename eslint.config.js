// Lint rules. A rule is on for the whole tree or off for the whole tree, with its reason here:
// there are no lists of exempt files and no disabling comments. Layers: .dependency-cruiser.cjs.
import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['lib/api/gen/']),
  { linterOptions: { noInlineConfig: true } },
  js.configs.recommended,
  {
    rules: {
      eqeqeq: 'error',
      'no-restricted-globals': [
        'error',
        { name: 'structuredClone', message: 'It is 10 times slower than a copy by type.' },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'nextTick', message: 'Await or call directly.' },
      ],
      // tsc reports both, for JavaScript files too, and knows types and globals.
      'no-undef': 'off',
      'no-unused-vars': 'off',
      // Control characters are what must not reach a header, a log line or a terminal.
      'no-control-regex': 'off',
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': [
        'error',
        // A module that is loaded on demand is named by its type: typeof import('…').
        { disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        // `default: unreachable(x)` already makes tsc prove that no case is missing.
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // Numbers and booleans print as themselves in text.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/restrict-plus-operands': ['error', { allowNumberAndString: true }],
      // `() => callThatReturnsNothing()` is the plain way to pass such a call on.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // On abort a promise rejects with signal.reason, whose type is `any`.
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      '@typescript-eslint/only-throw-error': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      // It takes a value checked before an await to be the same after it; ours may have changed.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // An asynchronous contract may be met without waiting.
      '@typescript-eslint/require-await': 'off',
      // Keys of API objects are data; absent and undefined differ, so keys are deleted.
      '@typescript-eslint/no-dynamic-delete': 'off',
      // Nothing to do is a valid callback; its emptiness needs no comment.
      '@typescript-eslint/no-empty-function': 'off',
      // `||` is right where '' and 0 mean "not given"; which one is meant is the author's choice.
      '@typescript-eslint/prefer-nullish-coalescing': 'off',
      // Bytes and tables are walked by index where that is faster than an iterator.
      '@typescript-eslint/prefer-for-of': 'off',
      // A parameter that is passed by type only ties two other types of a contract together.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // A key that is data may be written as data: labels['app'] beside labels.app.
      '@typescript-eslint/dot-notation': 'off',
      // It wants `!`, which this house does not write.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // The one place that makes a context may take it back by its class.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Enums come from libraries only, and their numbers are the wire's.
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      // Spreading text gives its code points, which is what the API's rules count.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      // Records keep the key type's name in view; both spellings are the same type.
      '@typescript-eslint/consistent-indexed-object-style': 'off',
      '@typescript-eslint/consistent-type-definitions': 'off',
    },
  },
);
