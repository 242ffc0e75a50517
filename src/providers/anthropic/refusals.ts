/** What servers of this wire were seen to refuse, and what is then left out (see adaptations.ts). */

import type { ChatRequest } from '../../messages/chat.ts';
import { type Adaptation, dueWhen } from '../adaptation.ts';

/** Only where the request asked for it: a text may name a thing in passing. */
function dueIf(isAsked: (request: ChatRequest) => boolean, adaptation: Adaptation): Adaptation {
  return {
    lasts: adaptation.lasts,
    cureOf: (failure, request) =>
      isAsked(request) ? adaptation.cureOf(failure, request) : undefined,
  };
}

/**
 * Most special first. The refusal of `disabled` names the other fields as the cure: `"thinking.type.
 * disabled" is not supported for this model. Use "thinking.type.adaptive" and
 * "output_config.effort" …`
 */
export const anthropicRefusals: readonly Adaptation[] = [
  // Thoughts are bound to all that stood before them; after an edit they must go.
  dueWhen('no_reasoning', /signature in thinking block|thinking block.{0,80}bound/iu, 'request'),
  dueWhen('no_thinking_off', /thinking\.type\.(?:disabled|between_tools)["'`]? (?:is|are) not/iu),
  dueWhen('no_thinking_off', /thinking.{0,40}\b(?:disabled|turned off)\b.{0,80}effort/iu),
  dueWhen('no_display', /thinking\.(?:\w+\.)?display\b|\bdisplay: extra inputs/iu),
  dueWhen(
    'no_effort',
    /(?:^|[\s:])output_config\b|effort\b.{0,40}not support|not support.{0,20}\beffort/iu,
  ),
  dueWhen('no_thinking_field', /\bthinking(?:\.|:| is not)|adaptive thinking/iu),
  dueWhen('no_cache_control', /cache_control/u),
  dueIf(({ webSearch }) => webSearch, dueWhen('no_web_search', /web[_ ]search/iu)),
  dueIf(
    ({ abilities }) => abilities.documents,
    dueWhen('no_documents', /\bdocument\b.{0,80}not (?:support|allow|permit)|tag 'document'/iu),
  ),
];
