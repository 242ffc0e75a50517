/**
 * Splits `<think>…</think>` out of the content, over any borders of chunks. Only a tag at the very
 * start counts, or a closing tag alone: some chat templates swallow the opening one.
 */

export interface ThinkPiece {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

export interface ThinkSplitter {
  add(text: string): readonly ThinkPiece[];
  /**
   * What was held back. `isWhole`: the message is over and has no calls, so that what never closed
   * was the answer.
   */
  end(isWhole: boolean): readonly ThinkPiece[];
  /** A closing tag came without an opening one: the model's next message starts inside. */
  readonly hadLoneClose: boolean;
}

const openTag = '<think>';
const closeTag = '</think>';

/** `startsInside`: this model is known to leave the opening tag out. */
export function createThinkSplitter(startsInside: boolean): ThinkSplitter {
  let held = '';
  let state: 'start' | 'inside' | 'after' | 'text' = startsInside ? 'inside' : 'start';
  let hadLoneClose = startsInside;
  /** Everything thought so far, in case a message that should start inside never closes. */
  let thought = '';
  let hasClosed = false;

  const think = (text: string): ThinkPiece[] => {
    thought += text;
    return text === '' ? [] : [{ kind: 'reasoning', text }];
  };
  const say = (text: string): ThinkPiece[] => (text === '' ? [] : [{ kind: 'text', text }]);

  const step = (isEnd: boolean): ThinkPiece[] => {
    switch (state) {
      case 'start': {
        const trimmed = held.trimStart();
        if (trimmed.startsWith(openTag)) {
          state = 'inside';
          held = trimmed.slice(openTag.length);
          return step(isEnd);
        }
        if (!isEnd && openTag.startsWith(trimmed)) return [];
        state = 'text';
        return step(isEnd);
      }
      case 'inside':
        return leaveAt(closeTag, think, isEnd);
      case 'after': {
        // The blank lines between the thought and the answer belong to neither.
        held = held.trimStart();
        if (held === '') return [];
        state = 'text';
        return step(isEnd);
      }
      case 'text':
        if (hasClosed) return say(take(held.length));
        return leaveAt(closeTag, say, isEnd);
    }
  };

  const take = (length: number): string => {
    const taken = held.slice(0, length);
    held = held.slice(length);
    return taken;
  };

  /** Passes text on up to the tag, holding back what may be its beginning. */
  const leaveAt = (tag: string, pass: (text: string) => ThinkPiece[], isEnd: boolean) => {
    const at = held.indexOf(tag);
    if (at >= 0) {
      const passed = pass(take(at));
      held = held.slice(tag.length);
      if (state === 'text') hadLoneClose = true;
      hasClosed = true;
      state = 'after';
      return [...passed, ...step(isEnd)];
    }
    return pass(take(isEnd ? held.length : held.length - partialTail(held, tag)));
  };

  return {
    add: (text) => {
      held += text;
      return step(false);
    },
    end: (isWhole) => {
      const pieces = step(true);
      if (!isWhole || !startsInside || hasClosed) return pieces;
      // It was an answer after all.
      hadLoneClose = false;
      hasClosed = true;
      return [...pieces, ...say(thought)];
    },
    get hadLoneClose() {
      return hadLoneClose;
    },
  };
}

/** Length of the longest end of `text` that begins `tag`. */
function partialTail(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (tag.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
