/**
 * Listening in on the body of a response while an SDK reads it: each piece is heard, the last bytes
 * are remembered, and the last event is closed with a blank line, because two SDKs drop an event, or
 * fail, when it is missing. Nothing is copied and nothing is queued: a stream put in between would
 * cost as much for each piece as all our reading of it.
 */

export interface Tap {
  /** Were the last bytes so far `[DONE]`, the end mark of Chat Completions? */
  endsWithDone(): boolean;
  /**
   * What came last, as text: the last event at least, where it has no more than 16,384 bytes; empty
   * unless it is kept.
   */
  recentText(): string;
}

const blankLine: Uint8Array = new Uint8Array([10, 10]);
const doneMark = '[DONE]';
/** A line of its own: in the middle of a text, which may be cut anywhere, it says nothing. */
const doneLine = /(?:^|[\r\n])data: ?\[DONE\]\s*$/u;
/** The mark, and the ends of lines around it. */
const mostTailBytes = 24;
const leastRecentBytes = 16_384;
const closingBracket = 93;
const space = 32;

type Reader = ReadableStreamDefaultReader<Uint8Array>;
type Reading = Awaited<ReturnType<Reader['read']>>;

export interface TapOptions {
  /** Called when the last line so far is `data: [DONE]`. */
  readonly marked?: () => void;
  /** Keep what came last, for `recentText`. */
  readonly keepsRecent?: boolean;
}

/**
 * Taps the body in place: whoever reads it from now on, by a reader or in a loop, reads through the
 * tap. `heard` is told of each piece.
 */
export function tapBody(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
  { marked, keepsRecent = false }: TapOptions = {},
): Tap {
  const reader = body.getReader();
  let last: Uint8Array = blankLine;
  /** The end of what came before `last`; only pieces that are short need it. */
  let before = '';
  /** The last pieces as they came; `recentBytes` is their size. */
  const recent: Uint8Array[] = [];
  let recentBytes = 0;
  let isClosed = false;

  const keep = (piece: Uint8Array): void => {
    recent.push(piece);
    recentBytes += piece.length;
    for (let first = recent[0]; first !== undefined; first = recent[0]) {
      if (recentBytes - first.length < leastRecentBytes) return;
      recentBytes -= first.length;
      recent.shift();
    }
  };
  const tail = (): string => before + textOf(last);
  const hear = (reading: Reading): Reading => {
    if (reading.done) {
      if (isClosed) return reading;
      isClosed = true;
      return { done: false, value: blankLine };
    }
    heard();
    const { value } = reading;
    before = value.length < mostTailBytes ? tail().slice(-mostTailBytes) : '';
    last = value;
    if (keepsRecent) keep(value);
    // The tail is read as text only where it can be the mark.
    if (marked && lastSignOf(value) === closingBracket && doneLine.test(tail())) marked();
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
    endsWithDone: () => tail().trimEnd().endsWith(doneMark),
    recentText: () => Buffer.concat(recent).toString('utf8'),
  };
}

/** The last byte that is no white space. */
function lastSignOf(bytes: Uint8Array): number {
  let at = bytes.length - 1;
  while (at > 0 && (bytes[at] ?? 0) <= space) at -= 1;
  return bytes[at] ?? 0;
}

/** The last bytes as text. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.slice(-mostTailBytes)).toString('latin1');
}
