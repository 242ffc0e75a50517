/** What servers of this wire were seen to refuse, and what is then left out (see adaptations.ts). */

import type { ChatRequest } from '../../messages/chat.ts';
import { type Adaptation, dueWhen, ofMessages, unquoted } from '../adaptation.ts';
import type { WireFailure } from '../errors.ts';
import { noReasoning } from '../stale-thoughts.ts';

/** Only where the request asked for it: a text may name a thing in passing. */
function dueIf(isAsked: (request: ChatRequest) => boolean, adaptation: Adaptation): Adaptation {
  return {
    ...adaptation,
    cureOf: (failure, request, learned) =>
      isAsked(request) ? adaptation.cureOf(failure, request, learned) : undefined,
  };
}

const placeOfMessage = /\bmessages[.[]\d/u;
const ofThoughts = /\b(?:redacted_)?thinking\b/iu;

/** A block of thoughts that stands in the history, and not how the model is asked to think. */
function isAboutThoughts({ message, paths = [] }: WireFailure): boolean {
  if (!ofThoughts.test(message)) return false;
  if (placeOfMessage.test(message) || paths.some((path) => placeOfMessage.test(path))) return true;
  return /\bthinking blocks?\b|signature/iu.test(message);
}

/** Thoughts are bound to all that stood before them; after an edit they must go. */
const staleThoughts: Adaptation = {
  lasts: 'history',
  cureOf: (failure) => (isAboutThoughts(failure) ? noReasoning : undefined),
};

/** The fields of the request that steer its thinking. */
function dueForSteering(
  name: string,
  pattern: RegExp,
  lasts: Adaptation['lasts'] = 'model',
): Adaptation {
  const due = dueWhen(name, pattern, lasts);
  return {
    lasts,
    cureOf: (failure, request, learned) =>
      isAboutThoughts(failure) ? undefined : due.cureOf(failure, request, learned),
  };
}

function ofPlainText(adaptation: Adaptation): Adaptation {
  return {
    ...adaptation,
    cureOf: (failure, request, learned) => {
      const message = unquoted(failure.message);
      return adaptation.cureOf({ ...failure, message }, request, learned);
    },
  };
}

/**
 * Most special first. The refusal of `disabled` names the other fields as the cure: `"thinking.type.
 * disabled" is not supported for this model. Use "thinking.type.adaptive" and
 * "output_config.effort" …`; that of a stale thought names a field that is not sent: "… set
 * `thinking.block_binding.prefix_mismatch_behavior` …".
 */
export const anthropicRefusals: readonly Adaptation[] = [
  // With a budget a turn begins with a thought. This one did not, and goes on without.
  dueWhen('no_thinking_now', /expected thinking or redacted_thinking, but found/iu, 'request'),
  staleThoughts,
  dueForSteering('no_thinking_off', /thinking\.type\.(?:disabled|between_tools) (?:is|are) not/iu),
  dueForSteering('no_thinking_off', /thinking.{0,40}\b(?:disabled|turned off)\b.{0,80}effort/iu),
  dueForSteering('no_display', /thinking\.(?:\w+\.)?display\b|\bdisplay: extra inputs/iu),
  dueWhen(
    'no_effort',
    /(?:^|:\s*)output_config\b|effort\b.{0,40}not support|not support.{0,20}\beffort/iu,
  ),
  // A budget that does not fit this request's output says nothing about others.
  dueForSteering('no_thinking_field', /budget_tokens/u, 'request'),
  dueForSteering('no_thinking_field', /(?<![.\w])thinking(?:\.|:| is not)|adaptive thinking/iu),
  ofMessages(dueWhen('no_cache_control', /cache_control/u)),
  dueIf(({ webSearch }) => webSearch, dueWhen('no_web_search', /web[_ ]search/iu)),
  dueIf(
    ({ abilities }) => abilities.documents,
    ofMessages(
      dueWhen('no_documents', /\bdocument\b.{0,80}not (?:support|allow|permit)|tag document/iu),
    ),
  ),
].map(ofPlainText);
