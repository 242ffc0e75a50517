/** Answers that begin at certain times and come at a certain pace, as Markdown in tokens. */

export interface Answer {
  readonly thread: string;
  readonly channel: string;
  readonly startMs: number;
  /** Each holds one numbered word. */
  readonly tokens: readonly string[];
  readonly perSecond: number;
}

export interface Scenario {
  readonly name: string;
  readonly answers: readonly Answer[];
}

/** Paragraphs with bold words, lists and code: what models write. */
export function tokensOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const word = `w${index}`;
    const place = index % 120;
    if (place === 60) return `\n\n\`\`\`ts\n${word} `;
    if (place > 60 && place < 90) return place % 6 === 0 ? `${word}\n` : `${word} `;
    if (place === 90) return `${word}\n\`\`\`\n\n`;
    if (place === 20) return `**${word} `;
    if (place === 22) return `${word}** `;
    if (place >= 95 && place < 115 && place % 5 === 0) return `\n- ${word} `;
    if (place === 115 || place === 119) return `\n\n${word} `;
    return `${word} `;
  });
}

const one = (name: string, tokens: number, perSecond: number): Scenario => ({
  name,
  answers: [{ thread: 't1', channel: 'c1', startMs: 0, tokens: tokensOf(tokens), perSecond }],
});

const twenty = (name: string, channelOf: (index: number) => string): Scenario => ({
  name,
  answers: Array.from({ length: 20 }, (_, index) => ({
    ...{ thread: `t${index}`, channel: channelOf(index), startMs: 0 },
    ...{ tokens: tokensOf(600), perSecond: 50 },
  })),
});

export const scenarios: readonly Scenario[] = [
  one('600 tokens at 50/s', 600, 50),
  one('3,000 at 150/s', 3000, 150),
  one('5,000 at 1,000/s', 5000, 1000),
  twenty('20 at once, one channel', () => 'c1'),
  twenty('20 at once, 20 channels', (index) => `c${index}`),
  {
    name: '12 s every 6 s',
    answers: Array.from({ length: 10 }, (_, index) => ({
      ...{ thread: `t${index}`, channel: 'c1', startMs: index * 6000 },
      ...{ tokens: tokensOf(600), perSecond: 50 },
    })),
  },
];

/** When each token of an answer comes, in ms after the scenario began. */
export function arrivalsOf({ startMs, tokens, perSecond }: Answer): readonly number[] {
  return tokens.map((_, index) => startMs + (index * 1000) / perSecond);
}
