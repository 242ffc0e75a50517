/**
 * Who may be notified by what the bot writes: only a known person's `@Name`. Ready-made tokens
 * (`<@1>`, `<@&2>`) and the words `@everyone` and `@here` in a model's text stay words, besides the
 * `allowed_mentions` of every call.
 */

import type { Mentionable } from '../../src/messages/people.ts';
import { zeroWidth } from '../../src/surface/markdown/table.ts';

/** Keeps the look and takes the meaning. */

type MentionPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'person'; readonly userId: string };

/** Splits plain text into text and mentions of known people. */
export type SplitMentions = (text: string) => readonly MentionPiece[];

export function createSplitMentions(mentionable: readonly Mentionable[]): SplitMentions {
  const idsByName = unambiguousNames(mentionable);
  if (idsByName.size === 0) return (text) => [{ kind: 'text', text }];
  const names = [...idsByName.keys()].sort((a, b) => b.length - a.length).map(escapeRegExp);
  // A name ends where no letter, digit or joined piece (`@anna.smith`, `@Anna-Lena`) goes on.
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}_@/])@(${names.join('|')})(?![\\p{L}\\p{N}_]|[-./@][\\p{L}\\p{N}])`,
    'gu',
  );
  return (text) => {
    const pieces: MentionPiece[] = [];
    let from = 0;
    for (const match of text.matchAll(pattern)) {
      const userId = idsByName.get(match[1] ?? '');
      if (userId === undefined) continue;
      if (match.index > from) pieces.push({ kind: 'text', text: text.slice(from, match.index) });
      pieces.push({ kind: 'person', userId });
      from = match.index + match[0].length;
    }
    if (from < text.length) pieces.push({ kind: 'text', text: text.slice(from) });
    return pieces;
  };
}

/** A name that two people share mentions nobody: better no ping than the wrong one. */
function unambiguousNames(mentionable: readonly Mentionable[]): Map<string, string> {
  const ids = new Map<string, string | null>();
  for (const { id, name } of mentionable) {
    const userId = /^discord:(\d{1,20})$/u.exec(id)?.[1];
    if (userId === undefined || name.trim() === '') continue;
    const known = ids.get(name);
    ids.set(name, known === undefined || known === userId ? userId : null);
  }
  const result = new Map<string, string>();
  for (const [name, userId] of ids) if (userId !== null) result.set(name, userId);
  return result;
}

/** Breaks the words and tokens that Discord could take as a mention, a channel or a time. */
export function quiet(text: string): string {
  return text
    .replace(/@(?=everyone|here)/giu, `@${zeroWidth}`)
    .replace(/<(?=@[!&]?\d|#\d|t:-?\d|\/[^:>\n]+:\d|a?:\w+:\d|id:[a-z])/gu, `<${zeroWidth}`);
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/gu, '\\$&');
}
