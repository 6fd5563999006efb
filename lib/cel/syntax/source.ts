// Text of an expression with lines and columns in code points, and the printing of errors with the
// line they are about.
import { limits } from '../../base/limits.ts';
import { codePointCount } from '../model/value.ts';

/**
 * An error of parsing or checking. `offset` counts UTF-16 units; -1: about the whole expression.
 */
export interface Issue {
  readonly offset: number;
  readonly message: string;
}

export interface Position {
  /** From 1; -1: about the whole expression. */
  readonly line: number;
  /** From 0, in code points. */
  readonly column: number;
}

const { expressionIssuesMax } = limits;

/** Line and column of an offset into the text. */
function positionOf(text: string, offset: number): Position {
  if (offset < 0) return { line: -1, column: -1 };
  let line = 1;
  let start = 0;
  for (
    let next = text.indexOf('\n');
    next >= 0 && next < offset;
    next = text.indexOf('\n', start)
  ) {
    line++;
    start = next + 1;
  }
  return { line, column: codePointCount(text.slice(start, offset)) };
}

/**
 * Issues in the order of their positions; those at one position stay in the order they were found.
 */
function sortIssues(issues: readonly Issue[]): readonly Issue[] {
  return issues.slice(0, expressionIssuesMax).sort((left, right) => left.offset - right.offset);
}

/** One line for each issue: `line:column: message`, columns from 1. */
export function issueLines(text: string, issues: readonly Issue[]): string[] {
  return sortIssues(issues).map((issue) => {
    const { line, column } = positionOf(text, issue.offset);
    return `${String(line)}:${String(column + 1)}: ${issue.message}`;
  });
}

/** All issues as a person reads them: the message, the line, and a mark under the column. */
export function renderIssues(text: string, issues: readonly Issue[]): string {
  const lines = text.split('\n');
  const rendered = sortIssues(issues).map((issue) => {
    const { line, column } = positionOf(text, issue.offset);
    const head = `ERROR: <input>:${String(line)}:${String(column + 1)}: ${issue.message}`;
    const snippet = lines[line - 1]?.replaceAll('\t', ' ');
    return snippet === undefined ? head : `${head}\n | ${snippet}\n | ${marker(snippet, column)}`;
  });
  if (issues.length > expressionIssuesMax) {
    rendered.push(`${String(issues.length - expressionIssuesMax)} more errors were truncated`);
  }
  return rendered.join('\n');
}

// Wide characters are underlined with wide dots, so that the mark stays under its column.
function marker(snippet: string, column: number): string {
  const points = [...snippet];
  const isWide = (point: string | undefined): boolean => point !== undefined && point > '\u007f';
  const dots = points.slice(0, column).map((point) => (isWide(point) ? '\uff0e' : '.'));
  return `${dots.join('')}${isWide(points[column]) ? '\uff3e' : '^'}`;
}
