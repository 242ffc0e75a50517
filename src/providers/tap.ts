/**
 * Listening in on the body of a response while an SDK reads it: each piece is heard, the last bytes
 * are remembered, and the last event is closed with a blank line, because two SDKs drop an event, or
 * fail, when it is missing. Nothing is copied and nothing is queued: a stream put in between would
 * cost as much for each piece as all our reading of it.
 */

export interface Tap {
  /** Were the last bytes so far `[DONE]`, the end mark of Chat Completions? */
  endsWithDone(): boolean;
}

const blankLine: Uint8Array = new Uint8Array([10, 10]);
const doneMark = '[DONE]';
/** The mark, and the ends of lines behind it. */
const mostTailBytes = 24;

type Reader = ReadableStreamDefaultReader<Uint8Array>;
type Reading = Awaited<ReturnType<Reader['read']>>;

/**
 * Taps the body in place: whoever reads it from now on, by a reader or in a loop, reads through the
 * tap. `heard` is told of each piece.
 */
export function tapBody(body: ReadableStream<Uint8Array>, heard: () => void): Tap {
  const reader = body.getReader();
  let last: Uint8Array = blankLine;
  /** The end of what came before `last`; only pieces that are short need it. */
  let before = '';
  let isClosed = false;

  const hear = (reading: Reading): Reading => {
    if (reading.done) {
      if (isClosed) return reading;
      isClosed = true;
      return { done: false, value: blankLine };
    }
    heard();
    const { value } = reading;
    before = value.length < mostTailBytes ? (before + textOf(last)).slice(-mostTailBytes) : '';
    last = value;
    return reading;
  };
  const read = (): Promise<Reading> => reader.read().then(hear);
  const cancel = async (reason?: unknown): Promise<void> => {
    isClosed = true;
    await reader.cancel(reason);
  };
  const ofReader = {
    read,
    cancel,
    releaseLock: () => reader.releaseLock(),
    closed: reader.closed,
  };
  const ofLoop = {
    next: read,
    return: async (): Promise<IteratorReturnResult<undefined>> => {
      await cancel();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => ofLoop,
  };
  // Whoever asks for neither closed nor rejected must not be troubled by it.
  reader.closed.catch(() => undefined);
  Object.defineProperties(body, {
    getReader: { value: () => ofReader },
    [Symbol.asyncIterator]: { value: () => ofLoop },
    cancel: { value: cancel },
  });
  return {
    endsWithDone: () => (before + textOf(last)).trimEnd().endsWith(doneMark),
  };
}

/** The last bytes as text. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.slice(-mostTailBytes)).toString('latin1');
}
