/**
 * Who may be notified by what the bot writes: only a known person's `@Name`. Ready-made tokens
 * (`<!here>`, `<@U1>`) and the words `@here`, `@channel`, `@everyone` in a model's text stay words.
 */

import type { Mentionable } from '../../src/messages/people.ts';
import { zeroWidth } from '../../src/surface/markdown/table.ts';

/** Keeps the look and takes the meaning. */

type MentionPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'person'; readonly userId: string };

/** Splits plain text into text and mentions of known people; broadcast words are made harmless. */
export type SplitMentions = (text: string) => readonly MentionPiece[];

export function createSplitMentions(mentionable: readonly Mentionable[]): SplitMentions {
  const idsByName = unambiguousNames(mentionable);
  if (idsByName.size === 0) return (text) => [{ kind: 'text', text: quietWords(text) }];
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
      if (match.index > from) {
        pieces.push({ kind: 'text', text: quietWords(text.slice(from, match.index)) });
      }
      pieces.push({ kind: 'person', userId });
      from = match.index + match[0].length;
    }
    if (from < text.length) pieces.push({ kind: 'text', text: quietWords(text.slice(from)) });
    return pieces;
  };
}

/** A name that two people share mentions nobody: better no ping than the wrong one. */
function unambiguousNames(mentionable: readonly Mentionable[]): Map<string, string> {
  const ids = new Map<string, string | null>();
  for (const { id, name } of mentionable) {
    const userId = /^slack:([UW][A-Z0-9_]+)$/u.exec(id)?.[1];
    if (userId === undefined || name.trim() === '') continue;
    const known = ids.get(name);
    ids.set(name, known === undefined || known === userId ? userId : null);
  }
  const result = new Map<string, string>();
  for (const [name, userId] of ids) if (userId !== null) result.set(name, userId);
  return result;
}

// A Markdown source may write each sign as an entity as well.
const less = '(?:<|&lt;|&#0*60;|&#x0*3c;)';
const at = '(?:@|&commat;|&#0*64;|&#x0*40;)';
const bang = '(?:!|&excl;|&#0*33;|&#x0*21;)';

const broadcastWord = new RegExp(`(?<![\\p{L}\\p{N}_])(${at})(?=here|channel|everyone)`, 'giu');
const mentionToken = new RegExp(
  `(${less})(?=\\\\?(?:${at}[UWB][A-Z0-9_]|${bang}(?:here|channel|everyone|group|subteam)))`,
  'giu',
);

/** A sign that makes what follows it a mention: `@` of a word, `<` of a token. */
export interface LoudSign {
  readonly kind: 'word' | 'token';
  readonly start: number;
  readonly end: number;
}

/** What would notify somebody, however it is spelled; in code as well. */
export function loudSigns(text: string): readonly LoudSign[] {
  const found = (kind: LoudSign['kind'], pattern: RegExp): LoudSign[] =>
    [...text.matchAll(pattern)].map((match) => ({
      kind,
      start: match.index,
      end: match.index + (match[1] ?? '').length,
    }));
  const words = found('word', broadcastWord).filter(({ start }) => !isPath(text, start));
  return [...words, ...found('token', mentionToken)];
}

/**
 * Breaks `@here`, `@channel`, `@everyone`, but for a path inside an address
 * (`https://example.com/@here`).
 */
export function quietWords(text: string): string {
  return text.replace(broadcastWord, (sign: string, _sign: string, at: number) =>
    isPath(text, at) ? sign : sign + zeroWidth,
  );
}

const endsInAddress = /(?:^|[^\p{L}\p{N}])(?:https?:\/\/|www\.)[^\s<>*`|"'()[\]\\]+\/$/iu;

function isPath(text: string, at: number): boolean {
  if (text[at - 1] !== '/') return false;
  const word = /\S*$/u.exec(text.slice(Math.max(0, at - 500), at))?.[0] ?? '';
  return endsInAddress.test(word);
}

/** Breaks every token that Slack would take as a mention, in code as well, however it is written. */
export function quietTokens(source: string): string {
  return source.replace(mentionToken, `$1${zeroWidth}`);
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/gu, '\\$&');
}

/** The words of a table's cell: joined without marks, tokens and words could notify. */
export const quietCell = (words: string): string => quietTokens(quietWords(words));
