/** Asking a model server for its list of models. Failures have the codes of `ChatProvider`. */

import { abortReasonOf, linkedAbort, throwIfAborted } from '../base/abort.ts';
import { BotError } from '../base/errors.ts';
import type { CallDeps } from './call.ts';
import { connectionLost, errorOfFailure, type Spoken } from './errors.ts';
import { failureOfResponse } from './failure.ts';

export interface ListCall {
  readonly provider: string;
  readonly endpoint: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A list is short: what takes longer than this does not come. */
const mostWaitMs = 30_000;

/** The parsed answer to a GET. */
export async function fetchList(
  deps: CallDeps,
  call: ListCall,
  signal: AbortSignal,
): Promise<unknown> {
  throwIfAborted(signal);
  const spoken: Spoken = { provider: call.provider, endpoint: call.endpoint, model: 'its models' };
  const link = linkedAbort(signal);
  const cancel = deps.clock.setTimer(mostWaitMs, () => {
    link.abort(connectionLost(spoken, `gave no list of models within ${mostWaitMs / 1000} s.`));
  });
  try {
    const headers = { accept: 'application/json', 'user-agent': 'deckhand', ...call.headers };
    const response = await deps.fetch(call.url, { headers, signal: link.signal });
    if (response.status === 404 || response.status === 405) {
      throw new BotError('bad_request', `${call.provider} has no list of models.`, {
        facts: { provider: call.provider, endpoint: call.endpoint, status: response.status },
      });
    }
    if (!response.ok) {
      throw errorOfFailure(spoken, await failureOfResponse(response, deps.clock.now()));
    }
    return JSON.parse(await response.text());
  } catch (thrown) {
    if (link.signal.aborted) throw abortReasonOf(link.signal);
    if (thrown instanceof BotError) throw thrown;
    const isJson = !(thrown instanceof SyntaxError);
    const what = isJson
      ? 'the connection failed or broke off.'
      : 'answered with something else than JSON.';
    throw connectionLost(spoken, what, thrown);
  } finally {
    cancel();
    link.release();
  }
}
