/**
 * Calls and their results as texts, for a model that takes no tools: servers refuse such a history,
 * and the model still has to know what was done.
 */

import type { ChatMessage } from '../messages/chat.ts';
import type { AssistantPart, ToolResult, UserPart } from '../messages/parts.ts';
import { resultText } from './normalise.ts';

/** Message by message; what results show is shown by the person's side. */
export function withToolsAsText(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.map((message): ChatMessage => {
    switch (message.role) {
      case 'user':
        return message;
      case 'assistant':
        return { role: 'assistant', parts: message.parts.map(callText) };
      case 'tool':
        return { role: 'user', parts: message.results.flatMap(resultTexts) };
    }
  });
}

function callText(part: AssistantPart, place: number): AssistantPart {
  if (part.kind !== 'tool_call') return part;
  // Some servers join the texts of a message.
  const gap = place === 0 ? '' : '\n\n';
  return { kind: 'text', text: `${gap}[called ${part.name} with ${JSON.stringify(part.input)}]` };
}

function resultTexts(result: ToolResult): readonly UserPart[] {
  const media = result.parts.filter((part) => part.kind !== 'text');
  return [{ kind: 'text', text: `[result of ${result.name}]\n${resultText(result)}` }, ...media];
}
