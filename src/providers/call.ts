/**
 * One request to a model server, watched. Gives the SDK a fetch of its own, so that refusals, pages
 * in place of streams and silence are seen on the wire, the same for every vendor; and gives back
 * the SDK's raw events. Whatever goes wrong leaves as one BotError; leaving the loop closes the
 * connection.
 */

import { abortReasonOf, linkedAbort, throwIfAborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { BotError } from '../base/errors.ts';
import { createEndWatch, type EndSign } from './end-watch.ts';
import { connectionLost, errorOfFailure, type Spoken, type WireFailure } from './errors.ts';
import {
  failureInEvents,
  failureOfGoodAnswer,
  failureOfResponse,
  failureOfThrown,
} from './failure.ts';
import { withAccused } from './media-refusals.ts';
import { type Tap, tapBody } from './tap.ts';
import { isNearAddress, type ModelFetch } from './transport.ts';

export interface CallDeps {
  readonly fetch: ModelFetch;
  readonly clock: Clock;
}

export interface Call extends Spoken {
  /** Longest silence in milliseconds, pings and comments counted as sound. */
  readonly idleMs: number;
  /**
   * The key, and what else the server must be told. The request carries these, its content type and
   * our name, whatever the SDK or the environment it reads would add.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** The SDK leaves errors out of its events: they are looked for in the bytes. */
  readonly hidesErrors?: boolean;
}

/** What the SDK is given to open its stream with. */
export interface Wire {
  readonly fetch: ModelFetch;
  readonly signal: AbortSignal;
}

/** Raw events; their reader says how near the end is, so that nobody waits for an open connection. */
export interface WireEvents extends AsyncIterable<unknown> {
  expectEnd(sign: EndSign): void;
  /** What came behind the reason to stop shows that it was none. */
  doubtEnd(): void;
  /** The failure that the last bytes name, where the SDK hides errors. */
  unseenFailure(): WireFailure | undefined;
}

export interface CallTrace {
  /** The last bytes were `[DONE]`, the end mark of Chat Completions. */
  sawDone: boolean;
}

const ourHeaders: Readonly<Record<string, string>> = {
  accept: 'application/json',
  'content-type': 'application/json',
  'user-agent': 'deckhand',
};

/** For the SDKs: longer than any wait that the idle watch allows, so that only that one counts. */
export const sdkTimeoutMs = 3_600_000;

/** Hosted servers send pings; servers nearby may read a long prompt for minutes in silence. */
export function idleMsOf(baseUrl: string): number {
  return isNearAddress(baseUrl) ? 600_000 : 120_000;
}

const over = { done: true, value: undefined } as const;

/**
 * The raw events of one request, which is made when the first one is asked for. Throws the signal's
 * reason when aborted, else a BotError. A stream that ends without an error may still lack its
 * terminal event: the caller checks that. For one reader, that asks for one event after the other.
 */
export function wireEvents(
  deps: CallDeps,
  call: Call,
  signal: AbortSignal,
  open: (wire: Wire) => Promise<AsyncIterable<unknown>>,
  trace: CallTrace = { sawDone: false },
): WireEvents {
  let request: OpenRequest | undefined;
  // Written out: as a generator it would cost each event several turns through the promise queue.
  return {
    expectEnd: (sign) => request?.expectEnd(sign),
    doubtEnd: () => request?.doubtEnd(),
    unseenFailure: () => request?.unseenFailure(),
    [Symbol.asyncIterator]: (): AsyncIterator<unknown> => {
      let events: AsyncIterator<unknown> | undefined;
      let isOver = false;
      const finish = (): typeof over => {
        isOver = true;
        request?.end();
        return over;
      };
      const fail = (thrown: unknown): typeof over => {
        // Without a request it was over before it began.
        const error = request === undefined ? abortReasonOf(signal) : request.errorOf(thrown);
        finish();
        if (error === undefined) return over;
        throw error;
      };
      const pass = (result: IteratorResult<unknown>): IteratorResult<unknown> => {
        if (result.done !== true) return result;
        // Two of the SDKs end quietly when aborted.
        if (request?.wire.signal.aborted) return fail(request.wire.signal.reason);
        return finish();
      };
      const begin = async (): Promise<IteratorResult<unknown>> => {
        throwIfAborted(signal);
        request = openRequest(deps, call, signal, trace);
        events = (await open(request.wire))[Symbol.asyncIterator]();
        return events.next();
      };
      return {
        next: () => {
          if (isOver) return Promise.resolve(over);
          return (events === undefined ? begin() : events.next()).then(pass, fail);
        },
        return: async () => {
          try {
            await events?.return?.();
          } finally {
            finish();
          }
          return over;
        },
      };
    },
  };
}

interface OpenRequest extends Omit<WireEvents, typeof Symbol.asyncIterator> {
  readonly wire: Wire;
  /** What the failure is for us; undefined when the message was over before it. */
  errorOf(thrown: unknown): Error | undefined;
  /** Hangs up where the server has not, and takes all watches away. */
  end(): void;
}

function openRequest(
  deps: CallDeps,
  call: Call,
  signal: AbortSignal,
  trace: CallTrace,
): OpenRequest {
  const link = linkedAbort(signal);
  const state: { refusal?: BotError; silent: boolean; tap?: Tap } = { silent: false };
  const { sound, stop } = watchSilence(deps.clock, call.idleMs, () => {
    state.silent = true;
    link.abort(new BotError('connection_lost', 'The model server fell silent.'));
  });
  const end = createEndWatch(deps.clock, () =>
    link.abort(new BotError('stopped', 'The message is over.')),
  );
  const sawDone = (): boolean => {
    trace.sawDone = end.sign === 'marked' || (state.tap?.endsWithDone() ?? false);
    return trace.sawDone;
  };
  return {
    expectEnd: (sign) => end.expect(sign),
    doubtEnd: () => end.doubt(),
    unseenFailure: () => failureInEvents(state.tap?.recentText() ?? ''),
    wire: {
      signal: link.signal,
      fetch: watchedFetch(deps, call, {
        sound,
        marked: () => end.expect('marked'),
        tapped: (tap) => {
          state.tap = tap;
        },
        refused: (refusal) => {
          state.refusal = refusal;
          return refusal;
        },
      }),
    },
    errorOf: (thrown) => {
      if (signal.aborted) return abortReasonOf(signal);
      if (end.sign === 'whole') return undefined;
      if (state.silent) {
        const quietS = Math.round(call.idleMs / 1000);
        return connectionLost(call, `nothing came for ${quietS} s.`, thrown);
      }
      // The SDKs wrap what their fetch throws; the refusal itself says more.
      if (state.refusal !== undefined) return state.refusal;
      const failure = failureOfThrown(thrown);
      if (failure !== undefined) return errorOfFailure(call, failure);
      if (end.sign !== undefined) return undefined;
      // One SDK takes the end mark for broken JSON.
      if (sawDone() && !link.signal.aborted) return undefined;
      return connectionLost(call, 'the connection failed or broke off.', thrown);
    },
    end: () => {
      sawDone();
      stop();
      end.stop();
      link.abort(new BotError('stopped', 'The request is over.'));
      link.release();
    },
  };
}

function watchSilence(
  clock: Clock,
  idleMs: number,
  onSilence: () => void,
): { readonly sound: () => void; readonly stop: () => void } {
  let heardAt = clock.now();
  let cancel = (): void => undefined;
  const wait = (delayMs: number): void => {
    cancel = clock.setTimer(delayMs, () => {
      const quietMs = clock.now() - heardAt;
      if (quietMs >= idleMs) onSilence();
      else wait(idleMs - quietMs);
    });
  };
  wait(idleMs);
  return {
    sound: () => {
      heardAt = clock.now();
    },
    stop: () => cancel(),
  };
}

interface FetchWatch {
  /** Something came. */
  readonly sound: () => void;
  /** The last bytes so far are the line `data: [DONE]`. */
  readonly marked: () => void;
  /** The body is about to be read. */
  readonly tapped: (tap: Tap) => void;
  /** The answer is no stream; gives the error back, to be thrown. */
  readonly refused: (error: BotError) => BotError;
}

function watchedFetch(deps: CallDeps, call: Call, watch: FetchWatch): ModelFetch {
  return async (input, init) => {
    const response = await deps.fetch(input, {
      ...init,
      headers: { ...ourHeaders, ...call.headers },
    });
    watch.sound();
    if (!response.ok) {
      const failure = await failureOfResponse(response, deps.clock.now());
      throw watch.refused(errorOfFailure(call, withAccused(failure, init?.body)));
    }
    const type = response.headers.get('content-type') ?? '';
    if (/\b(?:html|json)\b/iu.test(type) || response.body === null) {
      const body = await response.text();
      // Some servers put an error object into a 200.
      const failure = failureOfGoodAnswer(body, response.headers, deps.clock.now());
      if (failure !== undefined) throw watch.refused(errorOfFailure(call, failure));
      throw watch.refused(
        connectionLost(call, `answered with ${type || 'nothing'}, not a stream.`),
      );
    }
    watch.tapped(
      tapBody(response.body, watch.sound, {
        marked: watch.marked,
        keepsRecent: call.hidesErrors ?? false,
      }),
    );
    return response;
  };
}
