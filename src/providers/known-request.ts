/** A request within the limits that its server was seen to have, whatever the wire. */

import type { ChatRequest } from '../messages/chat.ts';
import { withoutRefusedEfforts } from './effort-levels.ts';
import { mostOutputOf } from './output-limit.ts';

/** What is wished, as far as it can be asked for: most output, levels of effort, tools. */
export function knownRequest(request: ChatRequest, learned: ReadonlySet<string>): ChatRequest {
  return {
    ...request,
    mostOutputTokens: mostOutputOf(learned, request.mostOutputTokens),
    abilities: withoutRefusedEfforts(request.abilities, learned),
    tools: request.abilities.tools ? request.tools : [],
  };
}
