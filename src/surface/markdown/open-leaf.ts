/** The innermost block at the end of a Markdown text: what more text would go on with. */

import type { Nodes, PhrasingContent } from 'mdast';
import { parseMarkdown } from './parse.ts';

/** Offsets are UTF-16 units of the text. */
export interface OpenLeaf {
  readonly node: Nodes;
  readonly start: number;
  readonly end: number;
  /** Where the list item begins that holds nothing but the leaf's first words. */
  readonly itemStart: number | undefined;
}

export function openLeafOf(text: string): OpenLeaf | undefined {
  let node: Nodes | undefined = parseMarkdown(text).children.at(-1);
  let itemStart: number | undefined;
  while (node && isContainer(node)) {
    const last: Nodes | undefined = node.children.at(-1);
    if (!last) break;
    if (node.type === 'listItem') {
      itemStart = node.children.length === 1 ? startOf(node) : undefined;
    }
    node = last;
  }
  return node && { node, start: startOf(node), end: endOf(node), itemStart };
}

function isContainer(
  node: Nodes,
): node is Extract<Nodes, { type: 'blockquote' | 'list' | 'listItem' | 'footnoteDefinition' }> {
  return (
    node.type === 'blockquote' ||
    node.type === 'list' ||
    node.type === 'listItem' ||
    node.type === 'footnoteDefinition'
  );
}

/** Phrases in which no mark of the text around them counts: code, tags, images, written links. */
export function closedPhrases(
  text: string,
  nodes: readonly PhrasingContent[],
): readonly { readonly start: number; readonly end: number }[] {
  return nodes.flatMap((node) => {
    const range = { start: startOf(node), end: endOf(node) };
    switch (node.type) {
      case 'inlineCode':
      case 'html':
      case 'image':
      case 'imageReference':
      case 'linkReference':
      case 'footnoteReference':
        return [range];
      case 'link':
        // A bare address is words.
        return /[[<]/u.test(text.charAt(range.start)) && node.position ? [range] : [];
      case 'strong':
      case 'emphasis':
      case 'delete':
        return closedPhrases(text, node.children);
      case 'text':
      case 'break':
        return [];
    }
  });
}

export function startOf({ position }: Nodes): number {
  return position?.start.offset ?? 0;
}

export function endOf({ position }: Nodes): number {
  return position?.end.offset ?? 0;
}
