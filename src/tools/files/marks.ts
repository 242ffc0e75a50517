/** What a conversation has seen of a file: nothing is overwritten that it has not. */

import { createHash } from 'node:crypto';
import type { ToolScene } from '../contract.ts';
import type { ResolvedPath } from '../paths.ts';
import type { ReadMarks } from '../ports.ts';

export type Sight = 'unseen' | 'changed' | 'seen';

export async function sightOf(
  readMarks: ReadMarks,
  { conversationKey }: ToolScene,
  file: ResolvedPath,
  content: Buffer,
): Promise<Sight> {
  const mark = await readMarks.get(conversationKey, file.canonical);
  if (mark === undefined) return 'unseen';
  return mark === hashOf(content) ? 'seen' : 'changed';
}

export function markSeen(
  readMarks: ReadMarks,
  { conversationKey }: ToolScene,
  file: ResolvedPath,
  content: Buffer,
): Promise<void> {
  return readMarks.set(conversationKey, file.canonical, hashOf(content));
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
