/**
 * What was drawn of a block is remembered: an edit of a page draws its last block alone. The memory
 * is bounded; what was not used for longest goes first.
 */

import type { Mentionable } from '../../messages/people.ts';

export interface DrawnBlocks<Drawn> {
  /** The block as it is drawn for these people. */
  readonly of: (markdown: string, mentionable: readonly Mentionable[]) => Drawn;
}

const mostDrawn = 400;
/** Longer texts are whole messages; drawing them is not remembered. */
const mostKeptUnits = 12_000;

export function createDrawnBlocks<Drawn>(
  draw: (markdown: string, mentionable: readonly Mentionable[]) => Drawn,
): DrawnBlocks<Drawn> {
  const known = new Map<string, Drawn>();
  return {
    of: (markdown, mentionable) => {
      if (markdown.length > mostKeptUnits) return draw(markdown, mentionable);
      // Blocks without an `@` mention nobody, whoever is there.
      const people = markdown.includes('@') ? mentionable : [];
      const key = JSON.stringify([markdown, people.map(({ id, name }) => [id, name])]);
      const kept = known.get(key);
      const drawn = kept ?? draw(markdown, mentionable);
      known.delete(key);
      known.set(key, drawn);
      const oldest = known.keys().next();
      if (known.size > mostDrawn && oldest.done !== true) known.delete(oldest.value);
      return drawn;
    },
  };
}
