/**
 * What works on which wire, as the contract suite finds it: the README's table of providers is
 * written from its run, and a test fails while the README says something else
 * (`npm run providers-table` rewrites it).
 *
 * To add a capability: put its name into `capabilityNames` (the rows, in order), and declare its
 * test by `capability('its name', 'states a fact', async () => {…})` in place of `it`. A test may
 * give back a few words for its cell, of what it saw on this wire ("beside the result"); otherwise
 * the cell is "yes", and "no" when the test fails. Several tests may stand for one capability.
 */

import type { WireName } from '../emulators/model-server.ts';

export const capabilityNames = [
  'text',
  'thinking',
  'thinking effort',
  'parallel tool calls',
  'images',
  'images in tool results',
  'PDFs',
  'web search of the vendor',
  'prompt caching',
  'stable prompt prefix',
  'model switch within a conversation',
  'repair of a broken history',
  'stop in the middle',
  'waits that the provider asks for',
  'overflow recognised',
  'lost connections noticed',
] as const;
export type CapabilityName = (typeof capabilityNames)[number];

/** What a test saw beyond that it works: a few words, or nothing. */
type Seen = string | undefined;

/** Declares a test that stands for one capability, or several. */
export type DeclareCapability = (
  names: CapabilityName | readonly CapabilityName[],
  fact: string,
  test: () => Promise<Seen> | Promise<void>,
) => void;

export interface CapabilityTable {
  on(wire: WireName): DeclareCapability;
  /** The table in Markdown; what no test stood for is "untested". */
  markdown(): string;
}

const columns: readonly (readonly [WireName, string])[] = [
  ['anthropic', 'Anthropic'],
  ['openai', 'OpenAI'],
  ['gemini', 'Gemini'],
  ['compatible', 'Chat Completions'],
];

/** `declare` declares a test: vitest's `it`. */
export function createCapabilityTable(
  declare: (fact: string, test: () => Promise<void>) => void,
): CapabilityTable {
  const cells = new Map<string, string[]>();
  const record = (wire: WireName, name: CapabilityName, cell: string): void => {
    const key = `${wire} ${name}`;
    cells.set(key, [...(cells.get(key) ?? []), cell]);
  };
  const cellOf = (wire: WireName, name: CapabilityName): string => {
    const found = cells.get(`${wire} ${name}`) ?? ['untested'];
    if (found.includes('no')) return 'no';
    return found.find((cell) => cell !== 'yes') ?? 'yes';
  };
  return {
    on: (wire) => (names, fact, test) => {
      const stood = typeof names === 'string' ? [names] : names;
      declare(fact, async () => {
        let cell = 'no';
        try {
          cell = (await test()) ?? 'yes';
        } finally {
          for (const name of stood) record(wire, name, cell);
        }
      });
    },
    markdown: () => {
      const rows = [
        ['', ...columns.map(([, title]) => title)],
        ...capabilityNames.map((name) => [name, ...columns.map(([wire]) => cellOf(wire, name))]),
      ];
      const widths = ['', ...columns].map((_, place) =>
        Math.max(3, ...rows.map((row) => row[place]?.length ?? 0)),
      );
      const lines = [rows[0] ?? [], widths.map((width) => '-'.repeat(width)), ...rows.slice(1)];
      return lines
        .map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`)
        .join('\n');
    },
  };
}

const opening = '<!-- providers-table -->';
const closing = '<!-- /providers-table -->';

export function hasTableBlock(readme: string): boolean {
  return readme.includes(opening) && readme.includes(closing);
}

/** The README with this table between its marks. */
export function readmeWith(readme: string, table: string): string {
  const start = readme.indexOf(opening) + opening.length;
  return `${readme.slice(0, start)}\n\n${table}\n\n${readme.slice(readme.indexOf(closing))}`;
}
