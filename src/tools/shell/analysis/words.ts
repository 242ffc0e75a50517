/**
 * Reads the words of a command line: what is the same text whatever happens, what names files by a
 * pattern, what is known only when it runs. Where the parser and a real shell could differ, a word
 * counts as unknown.
 */

import type { ScriptNode, WordNode } from 'just-bash';

export interface Piece {
  readonly text: string;
  readonly isGlob: boolean;
}

export type Word =
  | { readonly kind: 'literal'; readonly text: string }
  /** Becomes the names of files that match. */
  | { readonly kind: 'glob'; readonly pieces: readonly Piece[] }
  /** Holds variables or the output of commands. */
  | {
      readonly kind: 'open';
      /** No blank or pattern in the value is looked at: all that expands is in double quotes. */
      readonly isQuoted: boolean;
      readonly variables: readonly string[];
    }
  /** Not judged. */
  | { readonly kind: 'odd'; readonly why: string };

type Part = WordNode['parts'][number];

/** The most words that the braces of one word become. */
const mostBraceWords = 64;

/** The words that one word of the source becomes before variables and patterns are looked at. */
export function readWord(node: WordNode): readonly Word[] {
  const forms = bracesOf(node.parts);
  if (forms === undefined) return [{ kind: 'odd', why: 'its braces are not judged' }];
  return forms.map(readParts);
}

/** As `readWord`, for places where one word is one text. */
export function readOneWord(node: WordNode): Word {
  const words = readWord(node);
  const [only] = words;
  return words.length === 1 && only ? only : { kind: 'odd', why: 'its braces are not judged' };
}

function bracesOf(parts: readonly Part[]): readonly (readonly Part[])[] | undefined {
  let forms: (readonly Part[])[] = [[]];
  let plain: Part[] = [];
  for (const part of parts) {
    if (part.type !== 'BraceExpansion') {
      plain.push(part);
      continue;
    }
    const choices: (readonly Part[])[] = [];
    for (const item of part.items) {
      if (item.type === 'Range') return undefined;
      const inner = bracesOf(item.word.parts);
      if (inner === undefined) return undefined;
      choices.push(...inner);
      if (choices.length > mostBraceWords) return undefined;
    }
    const before = plain;
    plain = [];
    forms = forms.flatMap((form) => choices.map((choice) => [...form, ...before, ...choice]));
    if (forms.length > mostBraceWords) return undefined;
  }
  const after = plain;
  if (after.length > 0) forms = forms.map((form) => [...form, ...after]);
  return forms;
}

function readParts(parts: readonly Part[]): Word {
  // The command `[` is read as a pattern that never closes.
  if (isLoneBracket(parts)) return { kind: 'literal', text: '[' };
  const pieces: Piece[] = [];
  const open = openPartsOf(parts);
  for (const part of parts) {
    const piece = pieceOf(part);
    if (typeof piece === 'string') return { kind: 'odd', why: piece };
    if (piece) pieces.push(piece);
  }
  if (open) return open;
  if (pieces.some(({ isGlob }) => isGlob)) return { kind: 'glob', pieces };
  return { kind: 'literal', text: pieces.map(({ text }) => text).join('') };
}

function isLoneBracket(parts: readonly Part[]): boolean {
  const [only] = parts;
  return parts.length === 1 && only?.type === 'Glob' && only.pattern === '[';
}

/** A text: why the part is odd. Undefined: it is open. */
function pieceOf(part: Part): Piece | string | undefined {
  switch (part.type) {
    case 'Literal':
      return bareOddity(part.value) ?? { text: part.value, isGlob: false };
    case 'SingleQuoted':
    case 'Escaped':
      return { text: part.value, isGlob: false };
    case 'DoubleQuoted':
      return quotedPiece(part.parts);
    case 'Glob':
      // An extended pattern, or a bracket that closes in another part.
      if (/[()]/u.test(part.pattern) || /^\[(?:[^\]]*)$/u.test(part.pattern))
        return 'its pattern is not judged';
      return { text: part.pattern, isGlob: true };
    case 'ParameterExpansion':
    case 'CommandSubstitution':
      return undefined;
    case 'TildeExpansion':
      return 'it names a home folder';
    case 'ProcessSubstitution':
      return 'it hands the output of a command over as a file';
    case 'ArithmeticExpansion':
    case 'BraceExpansion':
      return 'it holds arithmetic or braces that are not judged';
  }
}

/**
 * Why a text outside quotes is not what it seems: a character here that a shell would give a meaning
 * was decoded from `$'…'`, or the parser missed it.
 */
function bareOddity(text: string): string | undefined {
  const plain = text.replaceAll(/@\{\w+\}/gu, ''); // HEAD@{1}
  if (/[$`[*?{}()<>|;&"'\\ \n\r]/u.test(plain.replaceAll('{}', '')))
    return 'it holds a character that a shell may expand';
  if (/(?:^|[=:])~/u.test(plain)) return 'it may name a home folder';
  return undefined;
}

function quotedPiece(parts: readonly Part[]): Piece | string | undefined {
  let text = '';
  let isOpen = false;
  for (const part of parts) {
    if (part.type === 'Literal' || part.type === 'Escaped') {
      text += part.value;
    } else if (part.type === 'ParameterExpansion' || part.type === 'CommandSubstitution') {
      isOpen = true;
      // What stands on both sides of an expansion must not join to another one.
      text += '\0';
    } else {
      return 'it holds a quoted expansion that is not judged';
    }
  }
  // `$` before a letter, a bracket or an expansion should have been read as one.
  if (/`|\$(?![ |)/.]|$)/u.test(text)) return 'it holds a character that a shell may expand';
  if (isOpen && text.includes('[')) return 'it may hold a subscript';
  return isOpen ? undefined : { text, isGlob: false };
}

function openPartsOf(parts: readonly Part[]): Extract<Word, { kind: 'open' }> | undefined {
  const found = parts.flatMap((part) => openings(part, false));
  if (!found.some(({ isOpen }) => isOpen)) return undefined;
  return {
    kind: 'open',
    isQuoted: found.every(({ isQuoted }) => isQuoted),
    variables: found.flatMap(({ variables }) => variables),
  };
}

interface Opening {
  readonly isOpen: boolean;
  readonly isQuoted: boolean;
  readonly variables: readonly string[];
}

function openings(part: Part, inQuotes: boolean): readonly Opening[] {
  switch (part.type) {
    case 'DoubleQuoted':
      return part.parts.flatMap((inner) => openings(inner, true));
    case 'CommandSubstitution':
      return [{ isOpen: true, isQuoted: inQuotes, variables: [] }];
    case 'Glob':
      return [{ isOpen: false, isQuoted: inQuotes, variables: [] }];
    case 'ParameterExpansion': {
      // These are numbers.
      const isQuoted = inQuotes || /^[?#$!]$/u.test(part.parameter);
      const inner = wordsOfOperation(part.operation).flatMap((word) => innerVariables(word));
      return [
        {
          isOpen: true,
          isQuoted: isQuoted && (inQuotes || part.operation === null),
          variables: [part.parameter, ...inner],
        },
      ];
    }
    case 'Literal':
    case 'SingleQuoted':
    case 'Escaped':
    case 'TildeExpansion':
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
    case 'BraceExpansion':
      return [];
  }
}

function innerVariables(node: WordNode): readonly string[] {
  const word = readOneWord(node);
  if (word.kind === 'open') return word.variables;
  return word.kind === 'odd' ? ['[odd]'] : []; // no name: never a known variable
}

type Operation = Extract<Part, { type: 'ParameterExpansion' }>['operation'];

function wordsOfOperation(operation: Operation): readonly WordNode[] {
  if (operation === null) return [];
  if (operation.type === 'DefaultValue' || operation.type === 'UseAlternative')
    return [operation.word];
  return operation.type === 'PatternRemoval' ? [operation.pattern] : [];
}

/** The scripts that the word runs: `$(…)`, backquotes, `<(…)`, also inside `${x:-…}` and braces. */
export function scriptsOf(node: WordNode): readonly ScriptNode[] {
  return node.parts.flatMap(scriptsOfPart);
}

function scriptsOfPart(part: Part): readonly ScriptNode[] {
  switch (part.type) {
    case 'CommandSubstitution':
    case 'ProcessSubstitution':
      return [part.body];
    case 'DoubleQuoted':
      return part.parts.flatMap(scriptsOfPart);
    case 'ParameterExpansion':
      return wordsOfOperation(part.operation).flatMap(scriptsOf);
    case 'BraceExpansion':
      return part.items.flatMap((item) => (item.type === 'Range' ? [] : scriptsOf(item.word)));
    case 'Literal':
    case 'SingleQuoted':
    case 'Escaped':
    case 'Glob':
    case 'TildeExpansion':
    case 'ArithmeticExpansion': // refused with the tree
      return [];
  }
}
