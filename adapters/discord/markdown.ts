/**
 * Standard Markdown as Discord's: headings to level 3, no tables, no nested quotes, no images
 * (docs.discord.com, reference, message formatting). What the parser took as plain text is escaped,
 * so that Discord does not find styles, spoilers or mentions in it.
 */

import type { Code, Heading, List, ListItem, Nodes, RootContent, Table } from 'mdast';
import { parseMarkdown } from '../../src/surface/markdown/parse.ts';
import { withOwnReferences } from '../../src/surface/markdown/references.ts';
import { alignedTable, displayWidthOf, zeroWidth } from '../../src/surface/markdown/table.ts';
import { quiet, type SplitMentions } from './mentions.ts';

interface Style {
  readonly split: SplitMentions;
  /** Already bold (a heading, a strong around): no second level. */
  readonly bold: boolean;
  readonly inLink: boolean;
  readonly inQuote: boolean;
}

/** Wider tables break their lines on a desktop window and are written as lists. */
const mostTableColumns = 90;
const mostLanguageChars = 30;

export interface DiscordText {
  readonly text: string;
  /** Ends with a heading: what follows it stands on the next line. */
  readonly isHeading: boolean;
}

export function discordTextOf(markdown: string, split: SplitMentions): DiscordText {
  const style: Style = { split, bold: false, inLink: false, inQuote: false };
  const { children } = parseMarkdown(withOwnReferences(markdown));
  return joined(children.map((node) => blockText(node, style)));
}

export function discordMarkdownOf(markdown: string, split: SplitMentions): string {
  return discordTextOf(markdown, split).text;
}

/** Texts that were drawn apart, as one that was drawn as a whole. */
export function joinedTexts(texts: readonly DiscordText[]): string {
  return joined(texts).text;
}

/** Plain text in which Discord finds no style and no mention. */
/** Plain text on one line, as it was written. */
export function plainLine(text: string): string {
  return plainStarts(escapeMarkdown(text.replace(/\s+/gu, ' ').trim()));
}

export function escapeMarkdown(text: string): string {
  const escaped = text
    .replace(/\\(?=[^\p{L}\p{N}\s])/gu, '\\\\')
    .replace(/[*`]/gu, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/~~/gu, '\\~\\~')
    .replace(/\|\|/gu, '\\|\\|')
    .replace(/\](?=\()/gu, '\\]');
  return quiet(escaped);
}

function blocks(nodes: readonly RootContent[], style: Style): string {
  return joined(nodes.map((node) => blockText(node, style))).text;
}

function blockText(node: RootContent, style: Style): DiscordText {
  return { text: drawn(node, style), isHeading: node.type === 'heading' };
}

function joined(texts: readonly DiscordText[]): DiscordText {
  let result = '';
  let isHeading = false;
  for (const one of texts) {
    if (one.text === '') continue;
    const between = result === '' ? '' : isHeading ? '\n' : '\n\n';
    result += between + one.text;
    isHeading = one.isHeading;
  }
  return { text: result, isHeading };
}

function drawn(node: Nodes, style: Style): string {
  switch (node.type) {
    case 'root':
      return blocks(node.children, style);
    case 'paragraph':
      return plainStarts(inline(node.children, style));
    case 'heading':
      return heading(node, style);
    case 'blockquote':
      return quote(blocks(node.children, { ...style, inQuote: true }), style);
    case 'list':
      return list(node, style);
    case 'listItem':
      return blocks(node.children, style);
    case 'code':
      return fence(node);
    case 'table':
      return table(node, style);
    case 'thematicBreak':
      return '──────────';
    case 'footnoteDefinition':
      return `[${escapeMarkdown(node.identifier)}] ${blocks(node.children, style)}`;
    case 'html':
      return plainStarts(escapeMarkdown(node.value));
    case 'text':
      return text(node.value, style);
    case 'strong':
      return style.bold
        ? inline(node.children, style)
        : marked('**', inline(node.children, { ...style, bold: true }));
    case 'emphasis':
      return marked(style.bold ? '_' : '*', inline(node.children, style));
    case 'delete':
      return marked('~~', inline(node.children, style));
    case 'inlineCode':
      return inlineCode(node.value);
    case 'break':
      return '\n';
    case 'link':
      return link(node.url, inline(node.children, { ...style, inLink: true }), style);
    case 'image':
      return link(node.url, escapeMarkdown(node.alt ?? ''), style);
    case 'linkReference':
      return inline(node.children, style);
    case 'imageReference':
      return escapeMarkdown(node.alt ?? '');
    case 'footnoteReference':
      return `[${escapeMarkdown(node.identifier)}]`;
    case 'definition':
    case 'yaml':
    case 'tableRow':
    case 'tableCell':
      return '';
  }
}

function text(value: string, style: Style): string {
  return style
    .split(value)
    .map((piece) => {
      if (piece.kind === 'text') return escapeMarkdown(piece.text);
      return style.inLink ? '' : `<@${piece.userId}>`;
    })
    .join('');
}

function inline(nodes: readonly Nodes[], style: Style): string {
  return leftoverBold(nodes.map((node) => drawn(node, style)).join(''), style);
}

/**
 * `**Load:**high` is no bold for the parser (the closing stars touch a letter after punctuation),
 * but people mean it, and Discord draws it. Code is passed over.
 */
function leftoverBold(drawnText: string, style: Style): string {
  if (!drawnText.includes('\\*\\*')) return drawnText;
  return drawnText.replace(
    /(`[^`]*`)|\\\*\\\*(?=[^\s\\])((?:`[^`]*`|\\(?!\*)|[^`\\\n])+?)(?<=\S)\\\*\\\*/gu,
    (_found, code: string | undefined, content: string | undefined) =>
      code ?? (style.bold ? (content ?? '') : `**${content ?? ''}**`),
  );
}

/** A line of plain words that looks like a heading, a quote, a small line or a list is none. */
function plainStarts(paragraph: string): string {
  return paragraph.replace(
    /^([ \t]*)(#{1,3}(?=[ \t])|>(?=>{0,2}[ \t])|-#(?=[ \t])|[-+](?=[ \t])|\d{1,9}(?=\.[ \t]))/gmu,
    (_found, indent: string, sign: string) =>
      /^\d/u.test(sign) ? `${indent}${sign}\\` : `${indent}\\${sign}`,
  );
}

function marked(mark: string, content: string): string {
  const [, before = '', middle = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/u.exec(content) ?? [];
  return middle === '' ? content : `${before}${mark}${middle}${mark}${after}`;
}

function heading(node: Heading, style: Style): string {
  const words = (isBold: boolean): string =>
    inline(node.children, { ...style, bold: isBold }).replace(/\s*\n\s*/gu, ' ');
  if (node.depth <= 3) {
    const content = words(false);
    return content === '' ? '' : `${'#'.repeat(node.depth)} ${content}`;
  }
  return marked('**', words(true));
}

function quote(content: string, style: Style): string {
  // Discord has one level of quotes.
  return style.inQuote || content === '' ? content : content.replace(/^/gmu, '> ');
}

function fence(node: Code): string {
  const language = node.lang ?? '';
  const info =
    language.length <= mostLanguageChars && /^[\w+#.-]+$/u.test(language) ? language : '';
  // Three backticks inside would end the fence.
  const body = node.value.replaceAll('```', `\`\`${zeroWidth}\``);
  return `\`\`\`${info}\n${body}\n\`\`\``;
}

function inlineCode(value: string): string {
  const line = value.replace(/\s*\n\s*/gu, ' ');
  if (!line.includes('`')) return `\`${line}\``;
  // Discord knows one and two backticks around code, no more.
  return line.includes('``') ? `\`${line.replaceAll('`', 'ˋ')}\`` : `\`\` ${line} \`\``;
}

function isSafeLink(url: string): boolean {
  return /^https?:\/\/[^\s<>]+$/iu.test(url);
}

function link(url: string, label: string, style: Style): string {
  if (style.inLink) return label;
  const address = url.replace(/^mailto:/iu, '');
  const shown = label.replace(/\s*\n\s*/gu, ' ').trim();
  // Discord links http(s) only; an e-mail address is shown as what it is.
  if (!isSafeLink(url)) {
    const plain = escapeMarkdown(address);
    return shown === '' || shown === plain ? plain : `${shown} (${plain})`;
  }
  const safe = url.replace(/[()\\|*`]/gu, percentEncoded);
  if (shown === '' || shown === escapeMarkdown(url)) return bareUrl(url);
  // A label that is an address itself is no link for Discord: people must see where it leads.
  if (/https?:\/\/|discord\.gg/iu.test(shown)) return `${shown} (<${safe}>)`;
  return `[${shown.replace(/(?<!\\)[[\]]/gu, '\\$&')}](<${safe}>)`;
}

function bareUrl(url: string): string {
  return /[()*|`\\]/u.test(url) ? `<${url.replace(/[\\|*`]/gu, percentEncoded)}>` : url;
}

function percentEncoded(sign: string): string {
  return `%${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase()}`;
}

function table(node: Table, style: Style): string {
  const aligned = alignedTable(node);
  const width = Math.max(...aligned.split('\n').map(displayWidthOf));
  if (width <= mostTableColumns) return fence({ type: 'code', value: aligned });
  const [header, ...rows] = node.children;
  const names = (header?.children ?? []).map((cell) => inline(cell.children, style).trim());
  return rows
    .map((row) => {
      const cells = row.children.map((cell, column) => {
        const value = inline(cell.children, style).replace(/\s*\n\s*/gu, ' ');
        const name = names[column] ?? '';
        return name === '' ? value : `${name}: ${value}`;
      });
      return `- ${cells.filter((cell) => cell !== '').join(' · ')}`;
    })
    .join('\n');
}

function list(node: List, style: Style): string {
  const start = node.start ?? 1;
  return node.children
    .map((item, index) => listItem(item, node.ordered ? `${start + index}. ` : '- ', style))
    .join('\n');
}

function listItem(item: ListItem, bullet: string, style: Style): string {
  const box = item.checked === null || item.checked === undefined ? '' : item.checked ? '☑ ' : '☐ ';
  const content = item.children
    .map((node) => drawn(node, style))
    .filter((piece) => piece !== '')
    .join('\n');
  return `${bullet}${box}${indented(content, ' '.repeat(bullet.length))}`;
}

/** All lines but the first; those of code stay, since Discord would show the indent. */
function indented(content: string, indent: string): string {
  let inFence = false;
  return content
    .split('\n')
    .map((line, index) => {
      const isFence = line.startsWith('```');
      const stays = index === 0 || inFence || isFence;
      if (isFence) inFence = !inFence;
      if (index === 0 && isFence) return `\n${line}`;
      return stays ? line : indent + line;
    })
    .join('\n');
}
