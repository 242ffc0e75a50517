/** Markdown as models write it, well formed: no mark of it is meant to be read as a mark. */

import fc from 'fast-check';

const word = fc.constantFrom(
  ...['checkout', 'slow', 'since', 'Monday', 'we', 'retry', 'the', 'cache', 'größer', 'naïve', 'x'],
  ...[
    '你好世界',
    'データベース',
    '캐시',
    '🚀',
    '👩‍💻',
    'שלום',
    '42',
    '3.5',
    'a',
    'end.',
    'so,',
    'yes!',
  ],
);
const words = fc.array(word, { minLength: 1, maxLength: 5 }).map((all) => all.join(' '));

const address = fc.constantFrom(
  'https://example.org/a',
  'https://example.org/b_c?d=1',
  'https://example.org/e(f)',
  'mailto:anna@example.org',
);

const phrase = fc.oneof(
  { weight: 6, arbitrary: words },
  words.map((text) => `**${text}**`),
  words.map((text) => `*${text}*`),
  words.map((text) => `_${text}_`),
  words.map((text) => `~~${text}~~`),
  words.map((text) => `***${text}***`),
  fc.tuple(words, words).map(([outer, inner]) => `**${outer} *${inner}***`),
  fc.tuple(words, words, words).map(([one, two, three]) => `*${one} **${two}** ${three}*`),
  words.map((text) => `\`${text}\``),
  words.map((text) => `\`\`${text}\`\``),
  fc.constantFrom('`a * b`', '`x_y`', '`[z]`', '**`init()` now**', '`a | b`'),
  fc.tuple(words, address).map(([text, url]) => `[${text}](${url})`),
  fc.tuple(words, address).map(([text, url]) => `[**${text}**](${url} "title")`),
  fc.tuple(words, address).map(([text, url]) => `**[${text}](${url})**`),
  fc.tuple(words, address).map(([text, url]) => `![${text}](${url})`),
  fc.constantFrom('https://example.org/bare', '<https://example.org/angle>', 'fish &amp; chips'),
);

/** One line of words and phrases. */
export const writtenLine = fc
  .tuple(words, fc.array(phrase, { maxLength: 5 }))
  .map(([first, rest]) => [first, ...rest].join(' '));

const lines = (least: number, most: number) =>
  fc.array(writtenLine, { minLength: least, maxLength: most });
const codeLine = fc.constantFrom(
  ...['const a = b * c;', '# not a heading', '- not an item', '', '| not | a table |', 'x = `y`'],
  ...['    indented', '[a](b)', '**not bold**', '你好 = 1', '> no quote', '---'],
);
const code = fc
  .tuple(
    fc.constantFrom('```', '~~~', '````'),
    fc.constantFrom('', 'js', 'python title="x"'),
    fc.array(codeLine, { minLength: 1, maxLength: 6 }),
  )
  .map(([fence, info, body]) => [fence + info, ...body, fence].join('\n'));
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const cell = fc.oneof(
  words,
  words.map((text) => `**${text}**`),
  fc.constant('`c`'),
);
const table = fc
  .tuple(
    fc.tuple(words, words),
    fc.constantFrom('---', ':--', '--:', ':-:'),
    fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 4 }),
  )
  .map(([head, rule, rows]) => [row(head), row([rule, rule]), ...rows.map(row)].join('\n'));
const indented = (text: string, indent: string): string => text.replaceAll('\n', `\n${indent}`);
const inItem = fc.oneof(
  { weight: 4, arbitrary: writtenLine },
  fc.tuple(writtenLine, writtenLine).map((both) => both.join('\n')),
  fc.tuple(writtenLine, code).map((both) => both.join('\n\n')),
  fc
    .tuple(writtenLine, lines(1, 3))
    .map(([first, nested]) => [first, ...nested.map((line) => `- ${line}`)].join('\n')),
);
const list = fc.oneof(
  fc
    .tuple(fc.constantFrom('- ', '* ', '+ '), fc.array(inItem, { minLength: 1, maxLength: 4 }))
    .map(([mark, items]) => items.map((item) => mark + indented(item, '  ')).join('\n')),
  fc
    .tuple(fc.constantFrom(1, 3, 9), fc.array(inItem, { minLength: 1, maxLength: 4 }))
    .map(([first, items]) =>
      items.map((item, index) => `${first + index}. ${indented(item, '    ')}`).join('\n'),
    ),
  fc
    .array(fc.tuple(fc.constantFrom(' ', 'x'), writtenLine), { minLength: 1, maxLength: 4 })
    .map((items) => items.map(([box, item]) => `- [${box}] ${item}`).join('\n')),
);

/** One block at the top. */
export const writtenBlock = fc.oneof(
  { weight: 3, arbitrary: lines(1, 3).map((all) => all.join('\n')) },
  fc
    .tuple(fc.integer({ min: 1, max: 6 }), writtenLine)
    .map(([depth, text]) => `${'#'.repeat(depth)} ${text}`),
  fc.tuple(words, fc.constantFrom('===', '---')).map((both) => both.join('\n')),
  list,
  code,
  table,
  lines(1, 3).map((all) => all.map((line) => `> ${line}`).join('\n')),
  fc.constantFrom('---', '***', '- - -'),
);

/** Blocks with a blank line between them. */
export const writtenMarkdown = fc
  .array(writtenBlock, { minLength: 1, maxLength: 4 })
  .map((blocks) => blocks.join('\n\n'));

/** Lists as models number them, and what is hard to cut: long lines, signs of several units. */
const hardBlock = fc.oneof(
  fc
    .tuple(fc.constantFrom('1. ', '0. ', '7) '), fc.array(inItem, { minLength: 3, maxLength: 7 }))
    .map(([mark, items]) => items.map((item) => mark + indented(item, '   ')).join('\n')),
  fc
    .tuple(fc.constantFrom(2, 99, 12_345), fc.array(writtenLine, { minLength: 2, maxLength: 7 }))
    .map(([first, items]) => items.map((item, at) => `${first + at}. ${item}`).join('\n\n')),
  fc
    .array(fc.tuple(words, fc.array(words, { maxLength: 4 })), { minLength: 2, maxLength: 4 })
    .map((items) =>
      items
        .map(([item, nested]) => [`1. ${item}`, ...nested.map((one) => `   1. ${one}`)].join('\n'))
        .join('\n'),
    ),
  fc
    .array(codeLine, { minLength: 8, maxLength: 40 })
    .map((body) => [`\`\`\`python title="${'x'.repeat(40)}"`, ...body, '```'].join('\n')),
  fc
    .tuple(fc.tuple(words, words), fc.array(fc.tuple(cell, cell), { minLength: 6, maxLength: 20 }))
    .map(([head, rows]) => [row(head), '|---|---|', ...rows.map(row)].join('\n')),
  fc.constantFrom(
    'שלום עולם '.repeat(20),
    '你好世界'.repeat(40),
    '👩‍👩‍👧‍👦'.repeat(15),
    'x'.repeat(300),
  ),
  writtenLine.map((line) => `${line} see [the docs][d], [d] and a note[^n].`),
);

/** Markdown that is hard to split. Its references are defined at the end. */
export const hardMarkdown = fc
  .array(fc.oneof(hardBlock, writtenBlock), { minLength: 1, maxLength: 4 })
  .map((blocks) =>
    [...blocks, '[d]: https://example.org/defined', '[^n]: A note that is short.'].join('\n\n'),
  );
