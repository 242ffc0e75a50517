/**
 * What a person wrote on Slack as Markdown: tokens become names and links, Slack's single stars
 * become Markdown's double ones, entities are undone once. Code keeps its words; a star in
 * arithmetic stays a star.
 */

export interface Lookups {
  /** The bot's own user id and the name people know it by. */
  readonly botUserId: string;
  readonly botName: string;
  user(id: string): string;
  channel(id: string): string;
  group(id: string): string;
}

/** Ids that a text mentions, to be looked up before it is translated. */
export function idsIn(text: string): {
  readonly users: readonly string[];
  readonly channels: readonly string[];
  readonly groups: readonly string[];
} {
  const found = (pattern: RegExp): string[] => [
    ...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? '')),
  ];
  return {
    users: found(/<@([UW][A-Z0-9_]+)(?:\|[^>]*)?>/gu),
    channels: found(/<#([CGD][A-Z0-9_]+)\|?>/gu),
    groups: found(/<!subteam\^([A-Z0-9_]+)>/gu),
  };
}

const code = /```[\s\S]*?```|`[^`\n]+`/gu;
const token = /<([^<>\n]+)>/gu;

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function markdownOfSlack(text: string, lookups: Lookups): string {
  const pieces: Piece[] = [];
  for (const match of text.matchAll(code)) {
    pieces.push(pieceOf(match, codeText(match[0], text, match.index, lookups)));
  }
  const inCode = (at: number): boolean =>
    pieces.some((piece) => at >= piece.start && at < piece.end);
  const tokens = [...text.matchAll(token)]
    .filter((match) => !inCode(match.index))
    .map((match) => pieceOf(match, tokenText(match[1] ?? '', lookups, true)));
  const fixed = [...pieces, ...tokens].sort((a, b) => a.start - b.start);
  const all = [...fixed, ...markEdits(masked(text, fixed))].sort((a, b) => a.start - b.start);
  let result = '';
  let from = 0;
  for (const piece of all) {
    result += plain(text.slice(from, piece.start)) + piece.text;
    from = piece.end;
  }
  return (result + plain(text.slice(from))).replace(/^([ \t]*)[•◦▪] /gmu, '$1- ');
}

function pieceOf(match: RegExpExecArray, text: string): Piece {
  return { start: match.index, end: match.index + match[0].length, text };
}

/** The text with code and tokens blotted out, of the same length: borders for stars, no stars. */
function masked(text: string, pieces: readonly Piece[]): string {
  let result = '';
  let from = 0;
  for (const { start, end } of pieces) {
    result += text.slice(from, start) + '"'.repeat(end - start);
    from = end;
  }
  return result + text.slice(from);
}

/** Pairs of `*` and `~` that Slack draws as bold and struck; each becomes the doubled mark. */
function markEdits(text: string): Piece[] {
  const edits: Piece[] = [];
  for (const mark of ['*', '~']) {
    const pair = new RegExp(
      `(?<![\\p{L}\\p{N}${mark}])[${mark}](?=[^\\s${mark}])[^${mark}\\n]*(?<=\\S)[${mark}](?![\\p{L}\\p{N}${mark}])`,
      'gu',
    );
    for (const match of text.matchAll(pair)) {
      for (const start of [match.index, match.index + match[0].length - 1]) {
        edits.push({ start, end: start + 1, text: mark + mark });
      }
    }
  }
  return edits;
}

function plain(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Code as Markdown: tokens inside as words, a fence on lines of its own. */
function codeText(written: string, text: string, at: number, lookups: Lookups): string {
  const body = plain(
    written.replace(token, (_found, inside: string) => tokenText(inside, lookups, false)),
  ).replaceAll('\u00A0', ' ');
  if (!written.startsWith('```') || !written.includes('\n')) return body;
  const content = body.slice(3, -3);
  const firstLine = content.slice(0, content.indexOf('\n'));
  // A first line of one word with the end on its own line is a language, as people mean it.
  const isFence = /^\s*[\w+#.-]*\s*$/u.test(firstLine) && /\n[ \t]*$/u.test(content);
  const fenced = isFence ? body : `\`\`\`\n${content.replace(/^\n|\n$/gu, '')}\n\`\`\``;
  const before = at === 0 || text[at - 1] === '\n' ? '' : '\n';
  const after = at + written.length;
  return `${before}${fenced}${after === text.length || text[after] === '\n' ? '' : '\n'}`;
}

/** `<…>`: a mention, a channel, a link, or a special word. */
function tokenText(inside: string, lookups: Lookups, asMarkdown: boolean): string {
  const bar = inside.indexOf('|');
  const target = bar === -1 ? inside : inside.slice(0, bar);
  const label = bar === -1 ? '' : plain(inside.slice(bar + 1));
  const id = target.slice(1);
  if (target.startsWith('@')) {
    return `@${id === lookups.botUserId ? lookups.botName : lookups.user(id)}`;
  }
  if (target.startsWith('#')) return `#${label === '' ? lookups.channel(id) : label}`;
  if (target.startsWith('!subteam^')) {
    return `@${(label === '' ? lookups.group(target.slice(9)) : label).replace(/^@/u, '')}`;
  }
  if (target.startsWith('!date^')) return label;
  if (target.startsWith('!')) return `@${id}`;
  return linkText(plain(target), label, asMarkdown);
}

function linkText(url: string, label: string, asMarkdown: boolean): string {
  const bare = url.replace(/^(?:https?:\/\/|mailto:|tel:)/iu, '');
  if (label === '' || label === url) return url;
  if (label === bare) return url.startsWith('http') ? url : label;
  if (!asMarkdown) return label;
  return `[${label.replace(/[[\]\\]/gu, '\\$&')}](${/[()\s]/u.test(url) ? `<${url}>` : url})`;
}

/** mrkdwn as plain words: marks and tokens off, for places that draw nothing. */
export function plainOfSlack(text: string): string {
  return plain(
    text
      .replace(token, (_found, inside: string) => inside.slice(inside.indexOf('|') + 1))
      .replace(/(?<![\p{L}\p{N}])([*_~`]+)(?=\S)([^\n]*?)(?<=\S)\1(?![\p{L}\p{N}])/gu, '$2'),
  );
}
