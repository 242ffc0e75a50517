/**
 * Whether text that comes in pieces is whole JSON so far. Looks at each character once, and parses
 * only where the brackets are closed, so that it can be asked after every piece.
 */

import { isWholeJson } from '../arguments.ts';

export interface JsonScan {
  add(piece: string): void;
  readonly text: string;
  /** Nothing but white space so far. */
  readonly isBlank: boolean;
  readonly isWhole: boolean;
}

/** Longer text without a bracket is no arguments. */
const mostBareChars = 100;

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

export function createJsonScan(): JsonScan {
  let text = '';
  let isBlank = true;
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  let hasOpened = false;
  /** The verdict on the text so far; undefined until it is asked for. */
  let verdict: boolean | undefined = false;
  /** More text can mend nothing. */
  let isSpoilt = false;

  const stepInText = (code: number): void => {
    if (isEscaped) isEscaped = false;
    else if (code === backslash) isEscaped = true;
    else if (code === quote) inString = false;
  };
  const stepOutside = (code: number): void => {
    if (code === quote) inString = true;
    else if (code === openBrace || code === openBracket) {
      depth += 1;
      hasOpened = true;
    } else if (code === closeBrace || code === closeBracket) depth -= 1;
  };
  const scan = (piece: string): void => {
    for (let place = 0; place < piece.length; place += 1) {
      const code = piece.charCodeAt(place);
      if (inString) stepInText(code);
      else stepOutside(code);
    }
  };
  const judge = (): boolean => {
    if (isSpoilt || inString || depth !== 0) return false;
    if (!hasOpened) return text.length <= mostBareChars && isWholeJson(text);
    const isWhole = isWholeJson(text);
    isSpoilt = !isWhole;
    return isWhole;
  };
  return {
    add: (piece) => {
      if (piece === '') return;
      text += piece;
      const isPieceBlank = piece.trim() === '';
      isBlank &&= isPieceBlank;
      // White space changes nothing, but within a text.
      if (isPieceBlank && verdict !== undefined) return;
      if (verdict === true && hasOpened) isSpoilt = true;
      scan(piece);
      verdict = undefined;
    },
    get text() {
      return text;
    },
    get isBlank() {
      return isBlank;
    },
    get isWhole() {
      verdict ??= judge();
      return verdict;
    },
  };
}
