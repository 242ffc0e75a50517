/**
 * A model's Markdown made ready for a `markdown` block: the source stays as it is but for mentions
 * (rule: only known people), links (only http, https and mailto) and tables (drawn as monospace,
 * since the block does not promise to draw them). What the changes joined is looked at once more at
 * the end.
 */

import type { Link, Nodes, Table } from 'mdast';
import { parseMarkdown } from '../../src/surface/markdown/parse.ts';
import { withOwnReferences } from '../../src/surface/markdown/references.ts';
import { alignedTable } from '../../src/surface/markdown/table.ts';
import { isSafeLink, type Range, rangeOf, withMarkdownLinks } from './links.ts';
import { createSplitMentions, quietCell, type SplitMentions } from './mentions.ts';
import { quietMarkdown, quietWritten } from './quiet-markdown.ts';

interface Edit extends Range, Replacement {}

interface Replacement {
  readonly text: string;
  /** Where mentions of known people stand in the text. */
  readonly own: readonly number[];
}

export function markdownBlockText(markdown: string, split: SplitMentions): string {
  const none: ReadonlySet<number> = new Set();
  const { source } = quietWritten({
    source: withMarkdownLinks(withOwnReferences(markdown)),
    own: none,
  });
  const root = parseMarkdown(source);
  const edits: Edit[] = [];
  collectEdits(root, source, split, edits);
  if (edits.length === 0) return quietMarkdown({ source, own: none }, root);
  const own = new Set<number>();
  let result = '';
  let from = 0;
  for (const edit of edits) {
    result += source.slice(from, edit.start);
    for (const at of edit.own) own.add(result.length + at);
    result += edit.text;
    from = edit.end;
  }
  return quietMarkdown({ source: result + source.slice(from), own });
}

/** Edits in the order of the source, never overlapping: an edited node is not entered. */
function collectEdits(node: Nodes, source: string, split: SplitMentions, edits: Edit[]): void {
  const replacement = replacementOf(node, source, split);
  if (replacement !== null) {
    pushEdit(edits, rangeOf(node), replacement, source);
    return;
  }
  if (!('children' in node)) return;
  // A mention cannot stand inside a label, and the text of a bare address is the address.
  if (node.type === 'link' && source[rangeOf(node).start] !== '[') return;
  const inside = node.type === 'link' ? withoutPeople : split;
  // Where the parser found a bare address late, its neighbours have no position: the whole stretch
  // between two nodes that have one is looked at as written.
  let { start: gapStart } = rangeOf(node);
  let hasGap = false;
  const closeGap = (end: number): void => {
    if (hasGap) {
      const range = { start: gapStart, end };
      pushEdit(edits, range, mentioned(source.slice(gapStart, end), inside), source);
    }
    hasGap = false;
  };
  for (const child of node.children) {
    if (child.position === undefined) {
      hasGap = true;
      continue;
    }
    closeGap(rangeOf(child).start);
    collectEdits(child, source, inside, edits);
    gapStart = rangeOf(child).end;
  }
  closeGap(rangeOf(node).end);
}

function pushEdit(edits: Edit[], range: Range, replacement: Replacement, source: string): void {
  if (replacement.text === source.slice(range.start, range.end)) return;
  edits.push({ ...range, ...replacement });
}

function mentioned(text: string, split: SplitMentions): Replacement {
  const own: number[] = [];
  let result = '';
  for (const piece of split(text)) {
    if (piece.kind === 'person') own.push(result.length);
    result += piece.kind === 'text' ? piece.text : `<@${piece.userId}>`;
  }
  return { text: result, own };
}

function withoutMentions(text: string): Replacement {
  return { text, own: [] };
}

const withoutPeople = createSplitMentions([]);

/** What stands in the node's place; null where the node stays and its children are looked at. */
function replacementOf(node: Nodes, source: string, split: SplitMentions): Replacement | null {
  if (node.type === 'text') {
    const { start, end } = rangeOf(node);
    return mentioned(source.slice(start, end), split);
  }
  if (node.type === 'table') return withoutMentions(fencedTable(node, source));
  if (node.type === 'link' && !isSafeLink(node.url)) {
    return withoutMentions(plainLink(node, source));
  }
  if (node.type === 'image' && !isSafeLink(node.url)) {
    return withoutMentions(`${node.alt ?? ''} (${node.url})`.trim());
  }
  if (node.type === 'definition' && !isSafeLink(node.url)) return withoutMentions('');
  return null;
}

function plainLink(node: Link, source: string): string {
  const first = node.children[0];
  const last = node.children.at(-1);
  const label = first && last ? source.slice(rangeOf(first).start, rangeOf(last).end) : '';
  return label === node.url ? label : `${label} (${node.url})`.trim();
}

/** The table in a fence, each line inside the quote or list item that holds it. */
function fencedTable(node: Table, source: string): string {
  const { start } = rangeOf(node);
  const head = source.slice(source.lastIndexOf('\n', start - 1) + 1, start);
  const margin = head.replace(/[^\s>]/gu, ' ');
  return ['```', ...alignedTable(node, quietCell).split('\n'), '```'].join(`\n${margin}`);
}
