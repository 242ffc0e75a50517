/** WebSearch: through the search endpoint that the operator configured; sources become links. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';
import { textOutcome } from '../text-result.ts';
import type { Search } from '../web/search.ts';

const input = z.strictObject({
  query: z.string().min(2).max(400).describe('What to search for, as one would type it.'),
  most: z.int().min(1).max(20).default(8).describe('How many results.'),
});

export function createWebSearchTool(deps: {
  readonly search: Search;
}): Tool<z.infer<typeof input>> {
  return {
    name: 'WebSearch',
    description:
      'Searches the web and gives titles, addresses and short texts. Read what matters with WebFetch; cite what you used.',
    input,
    category: 'core',
    concurrency: 'always',
    isReadOnly: true,
    needsApproval: false,
    describe: ({ query }) =>
      query ? `Searching for \`${query.replaceAll('`', "'")}\`` : 'Searching the web',
    invoke: async ({ query, most }, context) => {
      const hits = await deps.search(query, most, context.signal);
      if (hits.length === 0) return textOutcome(`Nothing was found for ${JSON.stringify(query)}.`);
      context.sources(hits.map(({ url, title }) => ({ url, title })));
      const lines = hits.map(
        ({ title, url, text }, index) =>
          `${index + 1}. ${oneLine(title)}\n   ${url}\n   ${oneLine(text)}`,
      );
      return textOutcome(lines.join('\n'));
    },
  };
}

/** What others wrote must not look like a further result. */
function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}
