/**
 * Link definitions and footnotes, resolved in the source: a block that is drawn by itself does not
 * see the definitions of another. Code is never touched.
 */

import type { Definition, FootnoteDefinition, ImageReference, LinkReference, Nodes } from 'mdast';
import { parseMarkdown } from './parse.ts';

interface LinkTarget {
  readonly url: string;
  readonly title: string | null;
}

/** What references need to know of a text. */
export interface Definitions {
  /** By identifier; the first definition of one counts. */
  readonly links: ReadonlyMap<string, LinkTarget>;
  /** Identifiers of footnotes. */
  readonly footnotes: ReadonlySet<string>;
  /** Identifiers that links and images of the text refer to. */
  readonly used: ReadonlySet<string>;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const noDefinitions: Definitions = { links: new Map(), footnotes: new Set(), used: new Set() };

/** What a block, or a whole text, defines and refers to. */
export function definitionsIn(source: string): Definitions {
  const labels = labelsIn(source);
  if (labels.size === 0) return noDefinitions;
  const links = new Map<string, LinkTarget>();
  const footnotes = new Set<string>();
  const used = new Set<string>();
  const { lead, root } = parsedWith(source, [...labels.values()]);
  visit(root, (node) => {
    if (node.type === 'linkReference' || node.type === 'imageReference') used.add(node.identifier);
    if (startOf(node) < lead) return;
    if (node.type === 'footnoteDefinition') footnotes.add(node.identifier);
    if (node.type === 'definition' && !links.has(node.identifier)) {
      links.set(node.identifier, { url: node.url, title: node.title ?? null });
    }
  });
  return { links, footnotes, used };
}

/** The definitions of a text whose blocks these are, in order. */
export function joinDefinitions(parts: readonly Definitions[]): Definitions {
  const links = new Map<string, LinkTarget>();
  for (const part of parts) {
    for (const [name, target] of part.links) if (!links.has(name)) links.set(name, target);
  }
  return {
    links,
    footnotes: new Set(parts.flatMap((part) => [...part.footnotes])),
    used: new Set(parts.flatMap((part) => [...part.used])),
  };
}

/**
 * A block with its references resolved by the definitions of the whole text: links and images get
 * their address, footnotes become `[label]`, definitions that are used go, others become a line.
 * While the text streams, `[text][ref]` without a definition is shown as its text.
 */
export function withReferences(
  source: string,
  definitions: Definitions,
  { isStreaming }: { readonly isStreaming: boolean },
): string {
  const labels = labelsIn(source);
  if (labels.size === 0) return source;
  const needed = [...labels]
    .filter(([name]) => isKnown(name, definitions) || (isStreaming && maybeHalf(source, name)))
    .map(([, label]) => label);
  if (needed.length === 0 && !source.includes(']:')) return source;
  const { lead, root } = parsedWith(source, needed);
  const resolving: Resolving = { source, lead, definitions, isStreaming };
  const edits: Edit[] = [];
  visit(root, (node, parent) => {
    if (startOf(node) >= lead) edits.push(...editsOf(node, parent, resolving));
  });
  return edited(source, edits);
}

/** A whole text with the references that it defines itself resolved. */
export function withOwnReferences(source: string): string {
  if (!source.includes(']:')) return source;
  return withReferences(source, definitionsIn(source), { isStreaming: false });
}

interface Resolving {
  readonly source: string;
  /** Where the source begins in the parsed text. */
  readonly lead: number;
  readonly definitions: Definitions;
  readonly isStreaming: boolean;
}

function editsOf(node: Nodes, parent: Nodes, resolving: Resolving): readonly Edit[] {
  const { source, lead, definitions, isStreaming } = resolving;
  const start = startOf(node) - lead;
  const end = endOf(node) - lead;
  switch (node.type) {
    case 'linkReference':
    case 'imageReference':
      return referenceEdits(node, start, end, resolving);
    case 'footnoteReference': {
      if (!isStreaming && !definitions.footnotes.has(node.identifier)) return [];
      const label = source.slice(start + 2, end - 1);
      // Not a link, a definition or the box of a task.
      const isRisky = /[([:]/u.test(source.charAt(end)) || /^[xX]$/u.test(label);
      return [{ start, end, text: isRisky ? `\\[${label}]` : `[${label}]` }];
    }
    case 'footnoteDefinition':
      return footnoteEdits(source, node, lead, parent.type === 'root');
    case 'definition': {
      if (!definitions.used.has(node.identifier)) {
        return [{ start, end, text: lineOf(source.slice(start, end), node) }];
      }
      return [{ start, end: afterLineEnd(source, end), text: '' }];
    }
    default:
      return [];
  }
}

function referenceEdits(
  node: LinkReference | ImageReference,
  start: number,
  end: number,
  { source, definitions, isStreaming }: Resolving,
): readonly Edit[] {
  const isShortcut = node.referenceType === 'shortcut';
  const suffix = isShortcut ? end : suffixStart(source, end);
  const target = definitions.links.get(node.identifier);
  if (target) return [{ start: suffix, end, text: destinationOf(target) }];
  if (!isStreaming || isShortcut) return [];
  const textStart = start + (node.type === 'linkReference' ? 1 : 2);
  return [
    { start, end: textStart, text: '' },
    { start: suffix - 1, end, text: '' },
  ];
}

/** True for a footnote, and where a full or collapsed reference may stand: `][`. */
function maybeHalf(source: string, name: string): boolean {
  return name.startsWith('^') || source.includes('][');
}

function isKnown(name: string, { links, footnotes }: Definitions): boolean {
  return name.startsWith('^') ? footnotes.has(name.slice(1)) : links.has(name);
}

const mostLabelLength = 999;

/** Text in brackets that is not followed by a plain address. */
const bracketed = /\[((?:[^[\]\\]|\\[\s\S])+)\](?:(?<=\[\^[^[\]]*\])|(?!\([^\s()<>\\]*\)))/gu;

/** All that stands in brackets and may be a label, by identifier; footnotes with their `^`. */
function labelsIn(source: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  if (!source.includes(']')) return labels;
  for (const [, raw = ''] of source.matchAll(bracketed)) {
    const label = raw.replace(/\s+(?:>\s*)*/gu, ' ').trim();
    const name = label.toLowerCase().toUpperCase().toLowerCase();
    if (name !== '' && name !== '^' && label.length <= mostLabelLength) labels.set(name, label);
  }
  return labels;
}

/** The tree of a text before which these labels are defined; what is found before `lead` is ours. */
function parsedWith(source: string, labels: readonly string[]): { lead: number; root: Nodes } {
  const links = labels.filter((label) => !label.startsWith('^'));
  const footnotes = labels.filter((label) => label.startsWith('^'));
  const lines = [...footnotes.map((label) => `[${label}]: x`), ...links.map(stubOf), stubOf('.')];
  const head = labels.length === 0 ? '' : `${lines.join('\n\n')}\n\n`;
  return { lead: head.length, root: parseMarkdown(head + source) };
}

const stubOf = (label: string): string => `[${label}]: <>`;

function visit(parent: Nodes, look: (node: Nodes, parent: Nodes) => void): void {
  if (!('children' in parent)) return;
  for (const child of parent.children) {
    look(child, parent);
    visit(child, look);
  }
}

/** Where the last `[…]` of a reference begins. */
function suffixStart(source: string, end: number): number {
  let at = end - 2;
  while (at > 0 && (source[at] !== '[' || isEscaped(source, at))) at -= 1;
  return at;
}

function isEscaped(source: string, at: number): boolean {
  let first = at;
  while (source[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

/** The part of an inline link after its text. A bar would end the cell of a table. */
function destinationOf({ url, title }: LinkTarget): string {
  const address = url.replace(/[|<>\s\\]/gu, encodeURIComponent);
  const isPlain = address !== '' && /^[^()]*$/u.test(address);
  const shown = isPlain ? address : `<${address}>`;
  const words = title?.replace(/\s+/gu, ' ').replace(/["\\|]/gu, '\\$&');
  return words ? `(${shown} "${words}")` : `(${shown})`;
}

function lineOf(written: string, { url, label, identifier }: Definition): string {
  const raw = /^\[((?:[^\]\\]|\\[\s\S])*)\]:/u.exec(written)?.[1] ?? label ?? identifier;
  return `${raw}: ${url}`;
}

function afterLineEnd(source: string, at: number): number {
  return at + (/^[ \t]*(?:\r\n|\n|\r)?/u.exec(source.slice(at))?.[0].length ?? 0);
}

/** Lines of a footnote that continue are indented by so much (GFM). */
const footnoteIndent = /^(?: {0,3}\t| {1,4})/u;

/** A footnote as a paragraph of its own that begins with its label. */
function footnoteEdits(
  source: string,
  node: FootnoteDefinition,
  lead: number,
  isTopLevel: boolean,
): readonly Edit[] {
  const start = startOf(node) - lead;
  const end = endOf(node) - lead;
  const head = /^\[\^((?:[^\]\\]|\\[\s\S])*)\]:[ \t]*/u.exec(source.slice(start, end));
  if (head === null) return [];
  const [all, label = ''] = head;
  const before = source.slice(0, start);
  const startsLate = /[^\s>][ \t]*(?:\r\n|\n|\r)[ \t>]*$/u.test(before) && isTopLevel;
  const first = node.children[0];
  const isWords = first?.type === 'paragraph' && startOf(first) - lead === start + all.length;
  const shown = `${startsLate ? '\n' : ''}[${label}]${isWords ? ' ' : '\n'}`;
  const edits: Edit[] = [{ start, end: start + all.length, text: shown }];
  if (!isTopLevel) return edits;
  for (const match of source.slice(start, end).matchAll(/(?:\r\n|\n|\r)([ \t]+)/gu)) {
    const at = start + match.index + match[0].length - (match[1] ?? '').length;
    const indent = footnoteIndent.exec(match[1] ?? '')?.[0].length ?? 0;
    if (at >= start + all.length) edits.push({ start: at, end: at + indent, text: '' });
  }
  return edits;
}

/** Edits that lie inside one another do not happen; they may be given in any order. */
function edited(source: string, edits: readonly Edit[]): string {
  let result = '';
  let from = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < from) continue;
    result += source.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return result + source.slice(from);
}

function startOf({ position }: Nodes): number {
  return position?.start.offset ?? 0;
}

function endOf({ position }: Nodes): number {
  return position?.end.offset ?? 0;
}
