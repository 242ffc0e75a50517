/** How much of a reply's text people cannot see yet, and since when. */

import type { Unseen } from './pacing/pacer.ts';

export interface UnseenText {
  /** The text is so long now. */
  grew(length: number): void;
  /** So much of it can be read. */
  shown(length: number): void;
  /** `lastCallAt`: when the message was last changed. */
  state(lastCallAt: number): Unseen;
}

/** Where only a line about the work changed, its age counts for so much less than a text's. */
const lineShare = 1 / 3;

export function createUnseenText(now: () => number): UnseenText {
  /** When the text had which length, oldest first. */
  let marks: { readonly length: number; readonly at: number }[] = [];
  let visible = 0;
  return {
    grew: (length) => {
      if (length > (marks.at(-1)?.length ?? visible)) marks.push({ length, at: now() });
    },
    shown: (length) => {
      visible = length;
      const first = marks.findIndex((mark) => mark.length > length);
      marks = first === -1 ? [] : marks.slice(first);
    },
    state: (lastCallAt) => {
      const [oldest] = marks;
      const newest = marks.at(-1);
      if (oldest && newest) return { since: oldest.at, length: newest.length - visible };
      return { since: now() - (now() - lastCallAt) * lineShare, length: 0 };
    },
  };
}
