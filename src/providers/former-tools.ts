/**
 * Some servers refuse a history with calls to tools that are not declared: where a request has no
 * tools, those of its history are declared, not to be called.
 */

import type { ToolSpec } from '../messages/chat.ts';
import type { Turn } from './normalise.ts';

/** By their names; empty where nothing was called. */
export function formerTools(turns: readonly Turn[]): readonly ToolSpec[] {
  const names = turns.flatMap((turn) =>
    turn.role === 'assistant'
      ? turn.parts.flatMap((part) => (part.kind === 'tool_call' ? [part.name] : []))
      : [],
  );
  return [...new Set(names)].map((name) => ({
    name,
    description: 'No longer available.',
    inputSchema: { type: 'object', properties: {} },
  }));
}
