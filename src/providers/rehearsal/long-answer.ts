/** A long Markdown text of a given number of words, for demonstrations of streaming and paging. */

const vocabulary = [
  'deck',
  'sail',
  'harbour',
  'rope',
  'tide',
  'anchor',
  'crew',
  'lantern',
  'compass',
  'wind',
  'signal',
  'chart',
  'bow',
  'stern',
  'wave',
  'watch',
  'cargo',
  'mast',
  'current',
  'shore',
] as const;

const wordsPerSentence = 12;
const sentencesPerSection = 5;

/** At least `words` words: sections with headings, lists and code fences. */
export function longAnswer(words: number): string {
  const blocks: string[] = [];
  let written = 0;
  for (let section = 1; written < words; section += 1) {
    const blockWords = Math.min(words - written, wordsPerSentence * sentencesPerSection);
    blocks.push(`## Part ${section}`, proseOf(blockWords, written));
    written += blockWords;
    if (section % 2 === 1) blocks.push(listOf(section));
    if (section % 3 === 1) blocks.push(codeOf(section));
  }
  return blocks.join('\n\n');
}

function wordAt(place: number): string {
  // Two strides, so that sentences differ.
  return (
    vocabulary[(place * 7 + Math.floor(place / vocabulary.length) * 3) % vocabulary.length] ?? ''
  );
}

function proseOf(words: number, from: number): string {
  const sentences: string[] = [];
  for (let start = 0; start < words; start += wordsPerSentence) {
    const count = Math.min(wordsPerSentence, words - start);
    const sentence = Array.from({ length: count }, (_, place) => wordAt(from + start + place));
    const [first = ''] = sentence;
    sentences.push(
      `${first.charAt(0).toUpperCase()}${first.slice(1)}${sentence
        .slice(1)
        .map((word) => ` ${word}`)
        .join('')}.`,
    );
  }
  return sentences.join(' ');
}

function listOf(section: number): string {
  return [1, 2, 3]
    .map((item) => `- **${wordAt(section + item)}** ${item}: see \`part-${section}.${item}\``)
    .join('\n');
}

function codeOf(section: number): string {
  return [
    '```ts',
    `const part = ${section};`,
    'for (let i = 0; i < part; i += 1) {',
    '  row(i);',
    '}',
    '```',
  ].join('\n');
}
