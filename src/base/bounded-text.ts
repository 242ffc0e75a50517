/** Text that goes on arriving, kept within a bound: its beginning and its end. */

import { cutMiddleAt } from './text.ts';

export interface BoundedText {
  append(text: string): void;
  /** What is kept; where something is missing, a line says how much. */
  read(): string;
  readonly isCut: boolean;
  /** UTF-16 units that were ever appended. */
  readonly length: number;
}

/** Keeps at most `mostChars` UTF-16 units: the first two thirds of the room and the last third. */
export function createBoundedText(mostChars: number): BoundedText {
  const mostHead = Math.floor((mostChars * 2) / 3);
  const mostTail = mostChars - mostHead;
  let head = '';
  let tail = '';
  let length = 0;
  return {
    append: (text) => {
      length += text.length;
      const room = mostHead - head.length;
      if (tail === '' && room > 0) head += text.slice(0, room);
      const rest = tail === '' && room > 0 ? text.slice(room) : text;
      tail += rest;
      // Cut only now and then: a cut copies the whole tail.
      if (tail.length > 2 * mostTail) tail = tail.slice(-mostTail);
    },
    read: () => {
      const end = tail.length > mostTail ? tail.slice(-mostTail) : tail;
      return cutMiddleAt(head, end, length - head.length - end.length);
    },
    get isCut() {
      return length > mostChars;
    },
    get length() {
      return length;
    },
  };
}
