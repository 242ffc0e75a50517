/**
 * One request to a model server, watched. Gives the SDK a fetch of its own, so that refusals, pages
 * in place of streams and silence are seen on the wire, the same for every vendor; and gives back
 * the SDK's raw events. Whatever goes wrong leaves as one BotError; leaving the loop closes the
 * connection.
 */

import { abortReasonOf, linkedAbort, throwIfAborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { BotError } from '../base/errors.ts';
import { connectionLost, errorOfFailure, type Spoken } from './errors.ts';
import { failureOfBody, failureOfResponse, failureOfThrown } from './failure.ts';
import { withAccused } from './media-refusals.ts';
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
}

/** What the SDK is given to open its stream with. */
export interface Wire {
  readonly fetch: ModelFetch;
  readonly signal: AbortSignal;
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

/**
 * Yields the raw events of one request. Throws the signal's reason when aborted, else a BotError.
 * A stream that ends without an error may still lack its terminal event: the caller checks that.
 */
export async function* wireEvents(
  deps: CallDeps,
  call: Call,
  signal: AbortSignal,
  open: (wire: Wire) => Promise<AsyncIterable<unknown>>,
  trace: CallTrace = { sawDone: false },
): AsyncGenerator<unknown, void> {
  throwIfAborted(signal);
  const link = linkedAbort(signal);
  const state: { refusal?: BotError; silent: boolean } = { silent: false };
  const { sound, stop } = watchSilence(deps.clock, call.idleMs, () => {
    state.silent = true;
    link.abort(new BotError('connection_lost', 'The model server fell silent.'));
  });
  const errorOf = (thrown: unknown): Error => {
    if (signal.aborted) return abortReasonOf(signal);
    if (state.silent) {
      return connectionLost(call, `nothing came for ${Math.round(call.idleMs / 1000)} s.`, thrown);
    }
    // The SDKs wrap what their fetch throws; the refusal itself says more.
    if (state.refusal !== undefined) return state.refusal;
    const failure = failureOfThrown(thrown);
    if (failure !== undefined) return errorOfFailure(call, failure);
    return connectionLost(call, 'the connection failed or broke off.', thrown);
  };
  try {
    const fetch = watchedFetch(deps, call, sound, trace, (refusal) => {
      state.refusal = refusal;
      return refusal;
    });
    for await (const event of await open({ fetch, signal: link.signal })) yield event;
    // Two of the SDKs end quietly when aborted.
    if (link.signal.aborted) throw abortReasonOf(link.signal);
  } catch (thrown) {
    // One SDK takes the end mark for broken JSON.
    const isEndMark =
      trace.sawDone && !link.signal.aborted && failureOfThrown(thrown) === undefined;
    if (!isEndMark) throw errorOf(thrown);
  } finally {
    stop();
    link.abort(new BotError('stopped', 'The request is over.'));
    link.release();
  }
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

function watchedFetch(
  deps: CallDeps,
  call: Call,
  sound: () => void,
  trace: CallTrace,
  refused: (error: BotError) => BotError,
): ModelFetch {
  return async (input, init) => {
    const response = await deps.fetch(input, {
      ...init,
      headers: { ...ourHeaders, ...call.headers },
    });
    sound();
    if (!response.ok) {
      const failure = await failureOfResponse(response, deps.clock.now());
      throw refused(errorOfFailure(call, withAccused(failure, init?.body)));
    }
    const type = response.headers.get('content-type') ?? '';
    if (/\b(?:html|json)\b/iu.test(type) || response.body === null) {
      const body = await response.text();
      // Some servers put an error object into a 200.
      if (/"error"/u.test(body)) {
        const failure = failureOfBody(body, undefined, response.headers, deps.clock.now());
        throw refused(errorOfFailure(call, failure));
      }
      throw refused(connectionLost(call, `answered with ${type || 'nothing'}, not a stream.`));
    }
    return new Response(response.body.pipeThrough(tapped(sound, trace)), {
      status: response.status,
      headers: response.headers,
    });
  };
}

/**
 * Hears each piece of the body, remembers whether its end was `[DONE]`, and closes the last event
 * with a blank line: two SDKs drop an event, or fail, when it is missing.
 */
function tapped(sound: () => void, trace: CallTrace): TransformStream<Uint8Array, Uint8Array> {
  let tail = '';
  return new TransformStream({
    transform(piece, controller) {
      sound();
      tail = (tail + Buffer.from(piece.slice(-24)).toString('latin1')).slice(-24);
      trace.sawDone = tail.trimEnd().endsWith('[DONE]');
      controller.enqueue(piece);
    },
    flush(controller) {
      controller.enqueue(new Uint8Array([10, 10]));
    },
  });
}
