/**
 * Markdown as Slack's mrkdwn, for texts that have no `markdown` block: the fallback of every
 * message, notices, private lines. Only `&`, `<` and `>` are escaped; bold, italics and strikes
 * need a border beside them, so a zero-width space is put where a letter stands. Words that would
 * notify everybody are broken in the whole result, in code too: where code ends is for Slack to say.
 */

import type { Code, List, ListItem, Nodes, RootContent } from 'mdast';
import { parseMarkdown } from '../../src/surface/markdown/parse.ts';
import { withOwnReferences } from '../../src/surface/markdown/references.ts';
import { alignedTable } from '../../src/surface/markdown/table.ts';
import { isSafeLink, slackUrlOf, withMarkdownLinks } from './links.ts';
import { createSplitMentions, quietCell, quietWords, type SplitMentions } from './mentions.ts';

/** A mention cannot stand inside a link's label. */
const withoutPeople = createSplitMentions([]);

interface Style {
  readonly split: SplitMentions;
  /** Already bold (a heading, a strong around): no second level. */
  readonly bold: boolean;
  readonly italic: boolean;
  readonly inLink: boolean;
}

export function mrkdwnOf(markdown: string, split: SplitMentions): string {
  const style: Style = { split, bold: false, italic: false, inLink: false };
  return quietWords(
    blocks(parseMarkdown(withMarkdownLinks(withOwnReferences(markdown))).children, style, '\n\n'),
  );
}

/** Plain text as mrkdwn that notifies nobody. */
export function plainMrkdwn(text: string): string {
  return quietWords(escapeMrkdwn(text));
}

/** `&`, `<`, `>` as entities: the text can hold no token any more. */
function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function blocks(nodes: readonly RootContent[], style: Style, between: string): string {
  return nodes
    .map((node) => drawn(node, style))
    .filter((text) => text !== '')
    .join(between);
}

function drawn(node: Nodes, style: Style): string {
  switch (node.type) {
    case 'root':
      return blocks(node.children, style, '\n\n');
    case 'paragraph':
      return inline(node.children, style);
    case 'heading':
      return marked('*', inline(node.children, { ...style, bold: true }));
    case 'blockquote':
      return blocks(node.children, style, '\n\n').replace(/^/gmu, '> ');
    case 'list':
      return list(node, style);
    case 'listItem':
      return blocks(node.children, style, '\n');
    case 'code':
      return fence(node);
    case 'table':
      return fence({ type: 'code', value: alignedTable(node, quietCell) });
    case 'thematicBreak':
      return '───';
    case 'footnoteDefinition':
      return `[${escapeMrkdwn(node.identifier)}] ${blocks(node.children, style, '\n')}`;
    case 'html':
      return escapeMrkdwn(node.value);
    case 'text':
      return text(node.value, style);
    case 'strong':
      return style.bold
        ? inline(node.children, style)
        : marked('*', inline(node.children, { ...style, bold: true }));
    case 'emphasis':
      return style.italic
        ? inline(node.children, style)
        : marked('_', inline(node.children, { ...style, italic: true }));
    case 'delete':
      return marked('~', inline(node.children, style));
    case 'inlineCode':
      // A backtick cannot stand inside Slack's inline code.
      return `\`${escapeMrkdwn(node.value.replaceAll('`', 'ˋ'))}\``;
    case 'break':
      return '\n';
    case 'link':
      return link(
        node.url,
        inline(node.children, { ...style, split: withoutPeople, inLink: true }),
        style,
      );
    case 'image':
      return link(node.url, escapeMrkdwn(node.alt ?? ''), style);
    case 'linkReference':
      return inline(node.children, style);
    case 'imageReference':
      return escapeMrkdwn(node.alt ?? '');
    case 'footnoteReference':
      return `[${escapeMrkdwn(node.identifier)}]`;
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
      return piece.kind === 'text' ? escapeMrkdwn(piece.text) : `<@${piece.userId}>`;
    })
    .join('');
}

function marked(mark: string, content: string): string {
  const [, before = '', middle = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/u.exec(content) ?? [];
  return middle === '' ? content : `${before}${mark}${middle}${mark}${after}`;
}

const marks = new Set(['strong', 'emphasis', 'delete']);

/** Children one after the other; a marked piece that touches a letter gets a border. */
function inline(nodes: readonly Nodes[], style: Style): string {
  let result = '';
  let borderNeeded = false;
  for (const node of nodes) {
    const piece = drawn(node, style);
    if (piece === '') continue;
    const isMarked = marks.has(node.type);
    const touches =
      (borderNeeded && /^[^\s\p{P}\p{S}]/u.test(piece)) ||
      (isMarked && /^[*_~]/u.test(piece) && /[^\s\p{P}\p{S}]$/u.test(result));
    result += touches ? `\u200B${piece}` : piece;
    borderNeeded = isMarked;
  }
  return leftoverBold(result, style);
}

/**
 * `**Load:**high` is no bold for the parser (the closing stars touch a letter after punctuation),
 * but people mean it. Code is passed over.
 */
function leftoverBold(mrkdwn: string, style: Style): string {
  if (!mrkdwn.includes('**')) return mrkdwn;
  return mrkdwn.replace(
    /(`[^`]*`)|\*\*(?=\S)((?:`[^`]*`|[^`\n])+?)(?<=\S)\*\*(?=([^\s\p{P}\p{S}])?)/gu,
    (_found, code: string | undefined, content: string | undefined, next: string | undefined) => {
      if (code !== undefined) return code;
      const bold = style.bold ? (content ?? '') : `*${content ?? ''}*`;
      return next === undefined ? bold : `${bold}\u200B`;
    },
  );
}

function link(url: string, label: string, style: Style): string {
  if (style.inLink) return label;
  if (!isSafeLink(url)) return label === '' ? escapeMrkdwn(url) : `${label} (${escapeMrkdwn(url)})`;
  const shown = label.replaceAll('|', '¦').replace(/\s*\n\s*/gu, ' ');
  const address = slackUrlOf(url);
  const bare = url.replace(/^mailto:/iu, '');
  if (shown === '' || shown === escapeMrkdwn(url)) return `<${address}>`;
  // A bare e-mail address stays the text it was.
  return shown === escapeMrkdwn(bare) ? shown : `<${address}|${shown}>`;
}

function fence(node: Code): string {
  // Three backticks inside would end the fence.
  const body = escapeMrkdwn(node.value).replaceAll('```', '``\u200B`');
  return `\`\`\`\n${body}\n\`\`\``;
}

function list(node: List, style: Style): string {
  const start = node.start ?? 1;
  return node.children
    .map((item, index) => listItem(item, node.ordered ? `${start + index}. ` : '• ', style))
    .join(node.spread === true ? '\n\n' : '\n');
}

function listItem(item: ListItem, bullet: string, style: Style): string {
  const box = item.checked === null || item.checked === undefined ? '' : item.checked ? '☑ ' : '☐ ';
  const content = blocks(item.children, style, item.spread === true ? '\n\n' : '\n');
  return `${bullet}${box}${content.replaceAll('\n', '\n    ')}`;
}
