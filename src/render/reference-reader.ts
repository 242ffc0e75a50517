/**
 * Link definitions and footnotes of a reply that grows: what its blocks refer to may be defined in
 * another block, or on an earlier page. Blocks that did not change are not read again.
 */

import type { TextBlock } from '../surface/markdown/blocks.ts';
import {
  type Definitions,
  definitionsIn,
  joinDefinitions,
  withReferences,
} from '../surface/markdown/references.ts';

export interface ReferenceReader {
  /** Reads the text that is not on a frozen page, as these blocks. */
  read(markdown: string, blocks: readonly TextBlock[]): void;
  /** A piece of the text with its references resolved. */
  resolved(source: string, isStreaming: boolean): string;
}

const mostRemembered = 500;

export function createReferenceReader(): ReferenceReader {
  const ofBlock = new WeakMap<TextBlock, Definitions>();
  /** What earlier pages define: what they refer to is drawn already. */
  let earlier: Definitions['links'] = new Map();
  let parts: readonly Definitions[] = [];
  let joined = joinDefinitions([]);
  const remembered = new Map<string, string>();

  const definitionsOf = (markdown: string, block: TextBlock): Definitions => {
    const known = ofBlock.get(block);
    if (known) return known;
    const found = definitionsIn(markdown.slice(block.from, block.to));
    ofBlock.set(block, found);
    return found;
  };

  return {
    read: (markdown, blocks) => {
      const found = blocks
        .map((block) => definitionsOf(markdown, block))
        .filter(({ links, footnotes, used }) => links.size + footnotes.size + used.size > 0);
      const isSame =
        found.length === parts.length && found.every((part, index) => part === parts[index]);
      if (isSame) return;
      parts = found;
      joined = joinDefinitions([
        { links: earlier, footnotes: new Set(), used: new Set() },
        ...found,
      ]);
      // The last block may still grow, and an address in it with it.
      const settled = blocks.slice(0, -1).map((block) => definitionsOf(markdown, block).links);
      earlier = new Map([...settled, earlier].flatMap((links) => [...links]));
      remembered.clear();
    },
    resolved: (source, isStreaming) => {
      if (!source.includes(']')) return source;
      const key = `${isStreaming ? '~' : '='}${source}`;
      const known = remembered.get(key);
      if (known !== undefined) return known;
      const text = withReferences(source, joined, { isStreaming });
      if (remembered.size >= mostRemembered) remembered.clear();
      remembered.set(key, text);
      return text;
    },
  };
}
