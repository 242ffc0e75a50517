/** Random Markdown as models write it, and the form in which what was shown is compared with it. */

import type { Random } from './random.ts';

const words = [
  ...['checkout', 'is', 'slow', 'since', 'Monday', 'the', 'cache', 'misses', 'and', 'we', 'retry'],
  ...[
    'größer',
    'naïve',
    '你好世界',
    '結帳很慢',
    'データベース',
    '캐시',
    '🚀',
    '👩‍💻',
    '🇩🇪',
    'é',
    '**bold**',
  ],
  ...['`code span`', '*emphasis*', '[docs](https://example.org/a)', '100%', 'a_b_c', '…', 'x'],
] as const;

/** Blocks of every kind, `blocks` of them; each word that names a block is used once. */
export function randomMarkdown(random: Random, name: string, blocks: number): string {
  const made = Array.from({ length: blocks }, (_, index) =>
    randomBlock(random, `${name}b${index}`),
  );
  return [...made, `The end of ${name}.`].join('\n\n');
}

function sentence(random: Random, name: string, most: number): string {
  const count = random.between(3, most);
  const all = Array.from({ length: count }, () => random.oneOf(words));
  return `${name} ${all.join(' ')}.`;
}

function lines(random: Random, most: number, line: (index: number) => string): string {
  return Array.from({ length: random.between(2, most) }, (_, index) => line(index)).join('\n');
}

function randomBlock(random: Random, name: string): string {
  switch (random.between(0, 9)) {
    case 0:
      return `${'#'.repeat(random.between(1, 4))} ${sentence(random, name, 6)}`;
    case 1:
      return lines(random, 25, (index) => `- ${sentence(random, `${name}i${index}`, 30)}`);
    case 2:
      return lines(
        random,
        25,
        (index) => `${index + 1}. ${sentence(random, `${name}i${index}`, 30)}`,
      );
    case 3:
      return lines(random, 8, (index) =>
        [
          `- ${sentence(random, `${name}i${index}`, 10)}`,
          `  - ${sentence(random, `${name}n${index}`, 20)}`,
        ].join('\n'),
      );
    case 4:
    case 5:
      return fence(random, name);
    case 6:
      return table(random, name);
    case 7:
      return lines(random, 6, (index) => `> ${sentence(random, `${name}q${index}`, 20)}`);
    case 8:
      // A line without a space, as addresses and hashes are.
      return `${name}${'0123456789abcdef'.repeat(random.between(10, 400))}`;
    default:
      return sentence(random, name, 400);
  }
}

function fence(random: Random, name: string): string {
  const marks = random.oneOf(['```', '~~~', '````']);
  const language = random.oneOf(['', 'ts', 'python', 'sql']);
  const body = lines(random, 150, (index) => {
    const indent = ' '.repeat(random.between(0, 3) * 2);
    return `${indent}const ${name}l${index} = ${random.between(0, 1_000_000)}; // ${random.oneOf(words)}`;
  });
  return `${marks}${language}\n${body}\n${marks}`;
}

function table(random: Random, name: string): string {
  const columns = random.between(2, 4);
  const plain = ['slow', '42', '你好', '🚀', 'größer', 'a b'] as const;
  const row = (cell: (column: number) => string): string =>
    `| ${Array.from({ length: columns }, (_, column) => cell(column)).join(' | ')} |`;
  return [
    row((column) => `${name}h${column}`),
    row(() => random.oneOf(['---', ':--', '--:', ':-:'])),
    lines(random, 40, (index) =>
      row((column) => (column === 0 ? `${name}r${index}` : random.oneOf(plain))),
    ),
  ].join('\n');
}

/** Cuts a text into deltas, never inside a character. */
export function randomDeltas(random: Random, text: string, mostLength: number): readonly string[] {
  const characters = Array.from(text);
  const deltas: string[] = [];
  for (let at = 0; at < characters.length; ) {
    const length = random.between(1, mostLength);
    deltas.push(characters.slice(at, at + length).join(''));
    at += length;
  }
  return deltas;
}

const fenceLine = /^ {0,3}(?:`{3,}|~{3,})\w*$/u;
const tableRow = /^\| .* \|$/u;
const tableRule = /^\|[-:| ]+\|$/u;
/** Under the head of a table that is drawn in a monospace font. */
const drawnRule = /^─[─ ]*$/u;

/** Markdown without its fence lines, its tables as rows of words. */
export function comparedForm(markdown: string): string {
  const kept = markdown.split('\n').flatMap((line) => {
    if (fenceLine.test(line) || tableRule.test(line)) return [];
    return [tableRow.test(line) ? wordsOfRow(line.replaceAll('|', ' ')) : line];
  });
  return kept.join('\n');
}

/**
 * What is wrong with messages that should show `markdown`; undefined when they read the same but
 * for white space between messages, fences that were opened again, and repeated heads of tables.
 */
export function differenceOf(markdown: string, messages: readonly string[]): string | undefined {
  const expected = comparedForm(markdown);
  const heads = new Set<string>();
  let at = 0;
  const skipSpace = (): void => {
    while (/\s/u.test(expected.charAt(at))) at += 1;
  };
  for (const [index, message] of messages.entries()) {
    if (message.split('\n').filter((line) => fenceLine.test(line)).length % 2 === 1)
      return `message ${index} has a fence that is not closed`;
    const shown = shownForm(message, heads).trim();
    skipSpace();
    if (!expected.startsWith(shown, at)) {
      const same = commonLength(expected.slice(at), shown);
      const context = (text: string, from: number): string =>
        JSON.stringify(text.slice(Math.max(0, from - 60), from + 60));
      return `message ${index} differs at ${same}: wanted ${context(expected, at + same)}, shown ${context(shown, same)}`;
    }
    at += shown.length;
  }
  skipSpace();
  return at < expected.length
    ? `missing: ${JSON.stringify(expected.slice(at, at + 80))}`
    : undefined;
}

/** A message as it is shown: tables as rows of words, heads that were there before left out. */
function shownForm(message: string, heads: Set<string>): string {
  const all = message.split('\n');
  let isTable = false;
  const kept = all.flatMap((line, index) => {
    if (fenceLine.test(line)) {
      isTable = drawnRule.test(all[index + 2] ?? '');
      return [];
    }
    if (!isTable && !tableRow.test(line) && !tableRule.test(line)) return [line];
    const rule = isTable ? drawnRule : tableRule;
    if (rule.test(line)) return [];
    const row = wordsOfRow(isTable ? line : line.replaceAll('|', ' '));
    const isHead = rule.test(all[index + 1] ?? '');
    if (isHead && heads.has(row)) return [];
    if (isHead) heads.add(row);
    return [row];
  });
  return kept.join('\n');
}

function wordsOfRow(row: string): string {
  return row.trim().replace(/\s+/gu, ' ');
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < other.length && one[length] === other[length]) length += 1;
  return length;
}
