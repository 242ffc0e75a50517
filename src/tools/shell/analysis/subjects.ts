/** Writes simple commands as the text that rules are matched with. */

import { type SimpleCommandNode, serialize, type WordNode } from 'just-bash';
import { readOneWord, type Word } from './words.ts';

/**
 * `git status -s`; a word that would be read otherwise stands in quotes, so that one word is never
 * taken for two. Words that are known only when they run stand as in the source.
 */
export function subjectOf({ name, args, assignments }: SimpleCommandNode): string {
  const set = assignments.map(({ name: variable, append, value, array }) => {
    const text = array ? `(${array.map(wordText).join(' ')})` : value ? wordText(value) : '';
    return `${variable}${append ? '+' : ''}=${text}`;
  });
  return [...set, ...(name ? [name, ...args] : args).map(wordText)].join(' ');
}

export function wordText(node: WordNode): string {
  const word: Word = readOneWord(node);
  return word.kind === 'literal' ? plainText(word.text) : sourceText(node);
}

function plainText(text: string): string {
  return /^[\w@%+=:,./^~#[\]{}-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function sourceText(word: WordNode): string {
  return serialize({
    type: 'Script',
    statements: [
      {
        type: 'Statement',
        operators: [],
        background: false,
        pipelines: [
          {
            type: 'Pipeline',
            negated: false,
            commands: [
              { type: 'SimpleCommand', name: word, args: [], assignments: [], redirections: [] },
            ],
          },
        ],
      },
    ],
  }).trim();
}
