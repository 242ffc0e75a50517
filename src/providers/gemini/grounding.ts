/**
 * What Gemini's search found, and which passages of the text rest on it. It names passages by bytes
 * of UTF-8 and may tell of them in several responses.
 */

import { z } from 'zod';
import type { ChatStreamEvent, Citation } from '../../messages/chat.ts';

const text = z.string().nullish().catch(null);
const count = z.number().nullish().catch(null);

export const groundingSchema = z.looseObject({
  webSearchQueries: z.array(z.string()).nullish().catch(null),
  groundingChunks: z
    .array(z.looseObject({ web: z.looseObject({ uri: text, title: text }).nullish().catch(null) }))
    .nullish()
    .catch(null),
  groundingSupports: z
    .array(
      z.looseObject({
        segment: z.looseObject({ startIndex: count, endIndex: count }).nullish().catch(null),
        groundingChunkIndices: z.array(z.int()).nullish().catch(null),
      }),
    )
    .nullish()
    .catch(null),
});
type WireGrounding = z.infer<typeof groundingSchema>;

interface Passage {
  readonly startByte: number;
  readonly endByte: number;
  readonly sources: readonly Citation[];
}

export interface Grounding {
  add(grounding: WireGrounding): void;
  /** Once the message is over. `text` is all that it said; `toldSearch`: its search was told of. */
  events(text: string, toldSearch: boolean): Generator<ChatStreamEvent>;
}

export function createGrounding(): Grounding {
  const queries = new Set<string>();
  let sources: readonly (Citation | undefined)[] = [];
  const supports = new Map<string, { start: number; end: number; places: readonly number[] }>();
  const passages = (): readonly Passage[] =>
    [...supports.values()]
      .sort((a, b) => a.start - b.start || a.end - b.end)
      .map(({ start, end, places }) => ({
        startByte: start,
        endByte: end,
        sources: places.flatMap((place) => sources[place] ?? []),
      }));
  return {
    add: (grounding) => {
      for (const query of grounding.webSearchQueries ?? []) queries.add(query);
      const found = (grounding.groundingChunks ?? []).map(({ web }) =>
        web?.uri ? { url: web.uri, title: web.title || web.uri } : undefined,
      );
      if (found.length >= sources.length) sources = found;
      for (const { segment, groundingChunkIndices } of grounding.groundingSupports ?? []) {
        const support = {
          start: segment?.startIndex ?? 0,
          end: segment?.endIndex ?? 0,
          places: groundingChunkIndices ?? [],
        };
        supports.set(JSON.stringify(support), support);
      }
    },
    events: function* (said, toldSearch) {
      const found = passages();
      if (queries.size > 0 && !toldSearch) {
        yield {
          kind: 'server_tool',
          name: 'google_search',
          input: { queries: [...queries] },
          result: { passages: found.map((passage) => placed(passage, said)) },
        };
      }
      const cited = new Map(
        found.flatMap((passage) => passage.sources).map((source) => [source.url, source]),
      );
      if (cited.size > 0) yield { kind: 'citations', citations: [...cited.values()] };
    },
  };
}

/** A passage by places in the text as JavaScript counts them. */
function placed({ startByte, endByte, sources }: Passage, said: string) {
  return {
    start: unitsBefore(said, startByte),
    end: unitsBefore(said, endByte),
    urls: sources.map(({ url }) => url),
  };
}

/** How many UTF-16 units of the text stand within its first `bytes` bytes of UTF-8. */
export function unitsBefore(whole: string, bytes: number): number {
  let units = 0;
  let left = bytes;
  for (const character of whole) {
    left -= Buffer.byteLength(character);
    if (left < 0) return units;
    units += character.length;
  }
  return units;
}
