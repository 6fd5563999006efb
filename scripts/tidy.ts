// Checks of STYLE.md that no linter makes: sizes, names, spellings, leftovers, orphans.
// Pure: takes files as text and returns what is wrong, each finding with the way out.
import { posix } from 'node:path';
import ts from 'typescript';

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Finding {
  readonly path: string;
  /** 1-based; 0 when it is about the file as a whole. */
  readonly line: number;
  readonly message: string;
}

export const fileLinesMax = 400;
export const functionLinesMax = 70;
export const columnsMax = 100;
const headerLinesMax = 3;
/** A file with at least this share of its lines inside top-level literals is a table. */
const tableShare = 0.75;

const fileNames: readonly (readonly [banned: RegExp, instead: string])[] = [
  [/(^|[-./])utils?([-.]|\/|$)/, 'name the noun that the functions serve'],
  [/(^|[-./])helpers?([-.]|\/|$)/, 'name the noun that the functions serve'],
  [/(^|[-./])managers?([-.]|\/|$)/, 'name what it does: a pool, a registry, a loop'],
  [/(^|[-./])(common|misc)([-.]|\/|$)/, 'name the noun that the functions serve'],
  [/(^|\/)types\.[cm]?ts$/, 'put each type into the file of its noun'],
  [/(^|\/)index\.[cm]?[jt]s$/, 'import the file that holds the thing'],
];

// `fieldManager` and RequestEntityTooLarge are names of the API, so they stay.
const declaredNames: readonly (readonly [banned: RegExp, instead: string])[] = [
  [/(^u|U)tils?(?![a-z])/, 'name the noun that it serves'],
  [/(^h|H)elpers?(?![a-z])/, 'name the noun that it serves'],
  [/(?<![Ff]ield)(?<![Ff]ields)(^m|M)anagers?(?![a-z])/, 'name what it does'],
  [/(?<!equest)(^e|E)ntit(y|ies)(?![a-z])/, 'say resource, object or item'],
];

// Written with [.] and [-] so that this file is not a finding of itself.
const vendorSpelling = new RegExp(
  [
    '(k8s|kubernetes|svc)[.]io',
    '\\b(kube|svc)[-](system|public|node-lease)\\b',
    '\\bx[-](kubernetes|svc)[-]',
    '\\bvnd[.](kubernetes|svc)\\b',
    '\\b(KUBERNETES|SVC)[_]EXEC_INFO\\b',
  ].join('|'),
);
const leftover = /\b(TO[D]O|FIX[M]E|X[X]X|HAC[K])\b/;
const focusedTest = /^\s*(test|it|describe)\.(only|skip|todo)\b|^\s*x(test|it|describe)\(/;
const workplaceRoot = /\/wor[k]\//;
const workplaceFolder = /\bshare[d]\/(design|spec|conformance|api-facts)\b/;

const isCode = (path: string): boolean => /\.[cm]?[jt]s$/.test(path);
const isGenerated = (path: string): boolean => path.startsWith('lib/api/gen/');
const isTestData = (path: string): boolean => /(^|\/)testdata\//.test(path);
const isTest = (path: string): boolean =>
  /\.(test|suite|e2e)\.[cm]?ts$/.test(path) ||
  path.includes('/testing/') ||
  path.startsWith('e2e/');
const isProse = (path: string): boolean => path.endsWith('.md');

/** Everything that is wrong with a tree of files. */
export function tidyFindings(files: readonly SourceFile[]): Finding[] {
  const findings = files
    .filter((file) => !isGenerated(file.path) && !isTestData(file.path))
    .flatMap((file) => [...fileFindings(file), ...lineFindings(file)]);
  return [...findings, ...orphanFindings(files), ...unusedExportFindings(files)];
}

function fileFindings(file: SourceFile): Finding[] {
  const findings: Finding[] = [];
  const whole = (message: string): void => {
    findings.push({ path: file.path, line: 0, message });
  };
  if (isProse(file.path)) return findings;
  for (const [banned, instead] of fileNames) {
    if (banned.test(file.path)) whole(`file name not used here: ${instead}`);
  }
  if (!isCode(file.path)) return findings;
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  const lines = file.text.trimEnd().split('\n').length;
  if (lines > fileLinesMax && !isTable(tree, lines)) {
    whole(`${lines} lines, at most ${fileLinesMax}: split it by noun`);
  }
  const header = headerLines(file.text);
  if (header > headerLinesMax || (header === 0 && !isTest(file.path))) {
    whole(`starts with ${header} lines of comment: say in 1 to ${headerLinesMax} what it is`);
  }
  if (tree.statements.length > 0 && tree.statements.every(isReExport)) {
    whole('only passes exports on: import the files themselves');
  }
  return [...findings, ...declarationFindings(file.path, tree)];
}

function declarationFindings(path: string, tree: ts.SourceFile): Finding[] {
  const findings: Finding[] = [];
  const visit = (node: ts.Node): void => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
    if (ts.isFunctionLike(node) && !(isTest(path) && holdsTests(node))) {
      const last = tree.getLineAndCharacterOfPosition(node.end).line + 1;
      const lines = last - line + 1;
      if (lines > functionLinesMax) {
        const message = `function of ${lines} lines, at most ${functionLinesMax}: name its parts`;
        findings.push({ path, line, message });
      }
    }
    const name = declaredName(node);
    for (const [banned, instead] of declaredNames) {
      if (name !== undefined && banned.test(name)) {
        findings.push({ path, line, message: `the name ${name} is not used here: ${instead}` });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return findings;
}

/** The name of a function, class, type or constant, wherever it is declared. */
function declaredName(node: ts.Node): string | undefined {
  if (
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isVariableDeclaration(node)
  ) {
    return node.name !== undefined && ts.isIdentifier(node.name) ? node.name.text : undefined;
  }
  return undefined;
}

/** A function that declares tests is a list of tests, however long. */
function holdsTests(node: ts.Node): boolean {
  let found = false;
  const visit = (inner: ts.Node): void => {
    if (ts.isCallExpression(inner) && /^(test|it|describe)\b/.test(inner.expression.getText())) {
      found = true;
    }
    if (!found) ts.forEachChild(inner, visit);
  };
  ts.forEachChild(node, visit);
  return found;
}

function isReExport(statement: ts.Statement): boolean {
  return ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined;
}

function isTable(tree: ts.SourceFile, lines: number): boolean {
  const inside = tree.statements
    .filter(ts.isVariableStatement)
    .flatMap((statement) => statement.declarationList.declarations)
    .filter(({ initializer }) => initializer !== undefined && isLiteral(initializer))
    .reduce((sum, declaration) => sum + declaration.getText(tree).split('\n').length, 0);
  return inside / lines >= tableShare;
}

function isLiteral(node: ts.Expression): boolean {
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return isLiteral(node.expression);
  // A call such as new Map([…]), Object.freeze({…}) or defineFlags([…]) around the literal.
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
    return node.arguments?.some(isLiteral) ?? false;
  }
  return ts.isArrayLiteralExpression(node) || ts.isObjectLiteralExpression(node);
}

function headerLines(text: string): number {
  const lines = text.split('\n');
  const first = lines[0]?.startsWith('#!') === true ? 1 : 0;
  let count = 0;
  while (lines[first + count]?.startsWith('//') === true) count++;
  return count;
}

function lineFindings({ path, text }: SourceFile): Finding[] {
  const findings: Finding[] = [];
  const product = /^(lib|cmd|scripts)\//.test(path) && !isTest(path) && !isProse(path);
  text.split('\n').forEach((content, index) => {
    const say = (message: string): void => {
      findings.push({ path, line: index + 1, message });
    };
    if (isCode(path) && content.length > columnsMax) {
      say(`${content.length} columns, at most ${columnsMax}`);
    }
    if (product && path !== 'lib/api/vendor.ts' && vendorSpelling.test(content)) {
      say('a spelling of one naming profile: use a placeholder of lib/api/vendor.ts');
    }
    if (leftover.test(content)) say('a leftover note: do it, or write down why not');
    if (isTest(path) && focusedTest.test(content)) say('a test that keeps tests from running');
    // Tests may compare with facts kept beside the repository, where those exist.
    if (workplaceRoot.test(content) || (!isTest(path) && workplaceFolder.test(content))) {
      say('a path of one workplace: the repository stands alone');
    }
  });
  return findings;
}

/** Files of lib/ that nothing but their own tests reaches. */
function orphanFindings(files: readonly SourceFile[]): Finding[] {
  const reached = new Set<string>();
  for (const file of files) {
    if (!isCode(file.path)) continue;
    // Any literal that names a file: import, export … from, import(), new URL(…) for a worker.
    for (const [, named = ''] of file.text.matchAll(/['"`](\.{1,2}\/[^'"`\s]+\.[cm]?ts)['"`]/g)) {
      const target = posix.join(posix.dirname(file.path), named);
      if (!isTest(file.path) || isTest(target)) reached.add(target);
    }
  }
  return files
    .map((file) => file.path)
    .filter((path) => /^lib\/.*\.[cm]?ts$/.test(path) && !isGenerated(path))
    .filter((path) => !isTestData(path) && !isTest(path) && !reached.has(path))
    .map((path) => ({ path, line: 0, message: 'nothing but tests imports it: use or remove it' }));
}

/**
 * Exported values of lib/ and cmd/ that nothing else needs. What only tests import must be used by
 * its own file as well, or it is code that exists for its test.
 */
function unusedExportFindings(files: readonly SourceFile[]): Finding[] {
  const code = files.filter(({ path }) => isCode(path) && !isGenerated(path) && !isTestData(path));
  const importers = new Map<string, 'product' | 'test'>();
  for (const { path, text } of code) {
    for (const key of importedValues(path, text)) {
      if (!isTest(path)) importers.set(key, 'product');
      else if (!importers.has(key)) importers.set(key, 'test');
    }
  }
  return code
    .filter(({ path }) => /^(lib|cmd)\//.test(path) && !isTest(path))
    .flatMap(({ path, text }) =>
      exportedValues(text).flatMap(({ name, line }) => {
        const importer = importers.get(`${path} ${name}`) ?? importers.get(`${path} *`);
        const uses = text.match(new RegExp(`(?<![\\w$.])${name}(?![\\w$])`, 'g')) ?? [];
        if (importer === 'product' || (importer === 'test' && uses.length > 1)) return [];
        const message =
          importer === 'test'
            ? `only tests need ${name}: remove it`
            : `nobody imports ${name}: keep it to its file or remove it`;
        return [{ path, line, message }];
      }),
    );
}

/** `export const`, `function` and `class` at the start of a line, as the formatter leaves them. */
function exportedValues(text: string): { name: string; line: number }[] {
  const pattern = /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class) ([\w$]+)/;
  return text.split('\n').flatMap((content, index) => {
    const name = pattern.exec(content)?.[1];
    return name === undefined ? [] : [{ name, line: index + 1 }];
  });
}

/** `path name` of everything that a file imports or passes on; `path *` where it takes all. */
function importedValues(path: string, text: string): string[] {
  const pattern = /^(?:import|export) (?:type )?(?:\{([^}]*)\}|\* as [\w$]+|\*) from '(\.[^']+)'/gm;
  const named = [...text.matchAll(pattern)].flatMap(([, names, from = '']) => {
    const target = posix.join(posix.dirname(path), from);
    if (names === undefined) return [`${target} *`];
    return names
      .split(',')
      .map((name) =>
        name
          .trim()
          .replace(/^type /, '')
          .replace(/ as .*/, ''),
      )
      .map((name) => `${target} ${name}`);
  });
  const whole = [...text.matchAll(/\bimport\(\s*'(\.[^']+)'/g)].map(
    ([, from = '']) => `${posix.join(posix.dirname(path), from)} *`,
  );
  return [...named, ...whole];
}
