/** Knows, while Markdown streams by, whether the next character stands in code. */

export interface CodeWatch {
  add(text: string): void;
  /** Within a fence, or behind an odd number of backtick runs of the line. */
  readonly isInCode: boolean;
}

/** Three blanks and the three marks of a fence. */
const mostHeadChars = 6;
const fencePattern = /^ {0,3}(?:```|~~~)/u;

export function createCodeWatch(): CodeWatch {
  /** The beginning of the line, where a fence would stand. */
  let head = '';
  let runs = 0;
  let isInRun = false;
  let isFenced = false;
  const read = (char: string): void => {
    if (char === '\n') {
      if (fencePattern.test(head)) isFenced = !isFenced;
      head = '';
      runs = 0;
      isInRun = false;
      return;
    }
    if (head.length < mostHeadChars) head += char;
    if (char === '`' && !isInRun) runs += 1;
    isInRun = char === '`';
  };
  return {
    add: (text) => {
      for (const char of text) read(char);
    },
    get isInCode() {
      return isFenced || fencePattern.test(head) || runs % 2 === 1;
    },
  };
}
