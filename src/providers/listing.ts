/**
 * Asking a server for its models: one short request, or a page after the other. Goes through the same
 * fetch as messages, carries the same headers, and fails with the same codes.
 */

import { abortReasonOf, linkedAbort, throwIfAborted } from '../base/abort.ts';
import { BotError } from '../base/errors.ts';
import type { Wire } from './call.ts';
import type { ListedModel } from './catalog.ts';
import type { ProviderDeps } from './deps.ts';
import { connectionLost, errorOfFailure, type Spoken } from './errors.ts';
import { failureOfResponse } from './failure.ts';
import type { ModelFetch } from './transport.ts';

export interface ListCall {
  readonly provider: string;
  readonly endpoint: string;
  readonly keySetting?: string;
  /** All that the request carries but its content type and our name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A list is small: a server that takes longer than this for all of it is not there. */
const mostWaitMs = 30_000;
/** No vendor has as many; a server that never ends its list is left. */
const mostModels = 5_000;

/**
 * All models that `pages` yields. Throws the signal's reason when aborted, else a BotError; nothing is
 * tried again.
 */
export async function listFrom(
  deps: Pick<ProviderDeps, 'fetch' | 'clock'>,
  call: ListCall,
  signal: AbortSignal,
  pages: (wire: Wire) => AsyncIterable<ListedModel | undefined>,
): Promise<readonly ListedModel[]> {
  throwIfAborted(signal);
  // What a sentence about a failure calls it: "… refused the key. Check that it may use the model list."
  const spoken: Spoken = { ...call, model: 'the model list' };
  const link = linkedAbort(signal);
  const cancel = deps.clock.setTimer(mostWaitMs, () => {
    link.abort(
      connectionLost(spoken, `the model list did not come within ${mostWaitMs / 1000} s.`),
    );
  });
  const state: { refusal?: BotError } = {};
  const fetch = listFetch(deps, call, spoken, (refusal) => {
    state.refusal = refusal;
    return refusal;
  });
  const models: ListedModel[] = [];
  try {
    for await (const model of pages({ fetch, signal: link.signal })) {
      if (model !== undefined) models.push(model);
      if (models.length >= mostModels) break;
    }
    return models;
  } catch (thrown) {
    if (link.signal.aborted) throw abortReasonOf(link.signal);
    // The SDKs wrap what their fetch throws; the refusal itself says more.
    throw state.refusal ?? connectionLost(spoken, 'the model list could not be read.', thrown);
  } finally {
    cancel();
    link.abort(new BotError('stopped', 'The request is over.'));
    link.release();
  }
}

function listFetch(
  deps: Pick<ProviderDeps, 'fetch' | 'clock'>,
  { headers }: ListCall,
  spoken: Spoken,
  refused: (error: BotError) => BotError,
): ModelFetch {
  return async (input, init) => {
    const response = await deps.fetch(input, {
      ...init,
      headers: { accept: 'application/json', 'user-agent': 'deckhand', ...headers },
    });
    if (response.status === 404 || response.status === 405) {
      throw refused(
        new BotError('bad_request', `${spoken.provider} has no list of models.`, {
          facts: { provider: spoken.provider, endpoint: spoken.endpoint, status: response.status },
        }),
      );
    }
    if (!response.ok) {
      const failure = await failureOfResponse(response, deps.clock.now());
      throw refused(errorOfFailure(spoken, failure));
    }
    const type = response.headers.get('content-type') ?? '';
    if (!/\bjson\b/iu.test(type)) {
      throw refused(connectionLost(spoken, `answered with ${type || 'nothing'}, not a list.`));
    }
    return response;
  };
}
