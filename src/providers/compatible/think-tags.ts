/**
 * Splits `<think>…</think>` out of the content, over any borders of chunks. Only a tag at the very
 * start counts. Some chat templates swallow the opening one, so that a message begins with thoughts
 * and shows a closing tag alone; but people also write about the tag. So a lone tag behind words
 * stays in the text, as it was, and is reported as a suspicion; and where a message is believed to
 * start inside, what never closes is given out as text after all.
 */

import { createCodeWatch } from './code-watch.ts';

export interface ThinkPiece {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

/**
 * Whether this message started inside its thoughts without an opening tag: `maybe` when a closing
 * tag stood alone behind words, `unknown` when there was no content at all.
 */
export type LoneCloseVerdict = 'yes' | 'maybe' | 'no' | 'unknown';

export interface ThinkSplitter {
  add(text: string): readonly ThinkPiece[];
  /** What was held back, because calls begin or the message is over. */
  end(): readonly ThinkPiece[];
  readonly verdict: LoneCloseVerdict;
}

const openTag = '<think>';
const closeTag = '</think>';

type State =
  | 'start'
  /** Behind an opening tag. */
  | 'inside'
  /** Believed to be thoughts, without an opening tag. */
  | 'guessed'
  /** Behind a closing tag: blank lines belong to neither. */
  | 'after'
  /** Words, with an eye on the first closing tag. */
  | 'words'
  /** Words, whatever they are. */
  | 'rest';

/** `startsInside`: this model is known to leave the opening tag out. */
export function createThinkSplitter(startsInside: boolean): ThinkSplitter {
  let held = '';
  let state: State = 'start';
  let verdict: LoneCloseVerdict = 'unknown';
  /** What was passed on as thoughts by guess, in case it was the answer. */
  let guessed = '';
  const code = createCodeWatch();
  /** The end of the words so far, and whether an opening tag was among them. */
  let tail = '';
  let hasOpenTag = false;

  const take = (length: number): string => {
    const taken = held.slice(0, length);
    held = held.slice(length);
    return taken;
  };
  const say = (text: string): ThinkPiece[] => (text === '' ? [] : [{ kind: 'text', text }]);
  const think = (text: string): ThinkPiece[] => (text === '' ? [] : [{ kind: 'reasoning', text }]);
  const guess = (text: string): ThinkPiece[] => {
    guessed += text;
    code.add(text);
    return think(text);
  };
  /** All that is certain to stand before a closing tag. */
  const beforeTag = (isEnd: boolean): string => {
    const at = held.indexOf(closeTag);
    if (at >= 0) return take(at);
    return take(isEnd ? held.length : held.length - partialTail(held, closeTag));
  };

  const begin = (isEnd: boolean): ThinkPiece[] => {
    const trimmed = held.trimStart();
    if (trimmed.startsWith(openTag)) {
      state = 'inside';
      verdict = 'no';
      held = trimmed.slice(openTag.length);
      return step(isEnd);
    }
    if (trimmed.startsWith(closeTag)) {
      state = 'after';
      verdict = 'yes';
      held = trimmed.slice(closeTag.length);
      return step(isEnd);
    }
    if (!isEnd && (openTag.startsWith(trimmed) || closeTag.startsWith(trimmed))) return [];
    if (trimmed !== '') verdict = 'no';
    state = startsInside ? 'guessed' : 'words';
    return step(isEnd);
  };

  const leaveThoughts = (isEnd: boolean): ThinkPiece[] => {
    const pieces = think(beforeTag(isEnd));
    if (!held.startsWith(closeTag)) return pieces;
    take(closeTag.length);
    state = 'after';
    return [...pieces, ...step(isEnd)];
  };

  const leaveGuess = (isEnd: boolean): ThinkPiece[] => {
    const pieces = guess(beforeTag(isEnd));
    if (!held.startsWith(closeTag)) return isEnd ? [...pieces, ...giveUpGuess()] : pieces;
    if (code.isInCode) return [...pieces, ...guess(take(closeTag.length)), ...step(isEnd)];
    take(closeTag.length);
    state = 'after';
    verdict = 'yes';
    return [...pieces, ...step(isEnd)];
  };

  /** It was the answer after all. */
  const giveUpGuess = (): ThinkPiece[] => {
    state = 'rest';
    return say(guessed);
  };

  const watchWords = (isEnd: boolean): ThinkPiece[] => {
    const words = beforeTag(isEnd);
    code.add(words);
    hasOpenTag ||= (tail + words).includes(openTag);
    tail = (tail + words).slice(1 - openTag.length);
    if (!held.startsWith(closeTag)) return say(words);
    if (!code.isInCode && !hasOpenTag) verdict = 'maybe';
    state = 'rest';
    return [...say(words), ...step(isEnd)];
  };

  const step = (isEnd: boolean): ThinkPiece[] => {
    switch (state) {
      case 'start':
        return begin(isEnd);
      case 'inside':
        return leaveThoughts(isEnd);
      case 'guessed':
        return leaveGuess(isEnd);
      case 'after':
        held = held.trimStart();
        if (held === '') return [];
        state = 'rest';
        return step(isEnd);
      case 'words':
        return watchWords(isEnd);
      case 'rest':
        return say(take(held.length));
    }
  };

  return {
    add: (text) => {
      held += text;
      return step(false);
    },
    end: () => step(true),
    get verdict() {
      return verdict;
    },
  };
}

/** Length of the longest end of `text` that begins `tag`. */
function partialTail(text: string, tag: string): number {
  // The first character of a tag is nowhere else in it.
  const at = text.lastIndexOf(tag.charAt(0));
  const length = text.length - at;
  return at >= 0 && length < tag.length && tag.startsWith(text.slice(at)) ? length : 0;
}
