/** What servers of this wire were seen to refuse, and what is then left out (see adaptations.ts). */

import { type Adaptation, dueWhen } from '../adaptation.ts';
import { noReasoning } from '../stale-thoughts.ts';

export const openaiRefusals: readonly Adaptation[] = [
  dueWhen(
    noReasoning,
    /encrypted[_ ]content.{0,60}(?:could not|invalid|verif)|without its required|items are not persisted/iu,
    'history',
  ),
  // Summaries need a verified organisation, sealed thoughts a reasoning model.
  dueWhen('no_summary', /reasoning\.summary|reasoning summar/iu),
  dueWhen('no_effort', /reasoning\.effort|reasoning_effort/iu),
  dueWhen('no_verbosity', /\bverbosity\b/iu),
  dueWhen('no_include', /^include\b|'include'|encrypted content is not supported/iu),
  dueWhen('no_cache_key', /prompt_cache_key/u),
  dueWhen('no_web_search', /hosted tool '?web_search|'web_search'|web_search.{0,40}not support/iu),
];
