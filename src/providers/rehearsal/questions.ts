/** "ask me …" → the input of AskUserQuestion. */

import type { Question } from '../../messages/questions.ts';

const mostHeaderChars = 12;
const mostOptions = 4;

/** The questions a message wants to be asked; empty when it wants none. */
export function questionsOf(said: string): readonly Question[] {
  const wish = /\bask me\b(?<rest>[\s\S]*)/iu.exec(said)?.groups?.['rest']?.trim();
  if (wish === undefined) return [];
  if (/^two things\b/iu.test(wish)) {
    return [
      question('Which colour shall it be?', 'Colour', ['Blue', 'Green'], false),
      question('Which size shall it be?', 'Size', ['Small', 'Large'], false),
    ];
  }
  const several = /^to pick (?:several|some) (?:of|from) (?<list>.+)/iu.exec(wish)?.groups?.[
    'list'
  ];
  if (several !== undefined) {
    return [question('Which of these do you pick?', 'Pick', optionsIn(several), true)];
  }
  const either = /^(?:whether|if) (?:to (?:use )?)?(?<list>.+\bor\b.+)/iu.exec(wish)?.groups?.[
    'list'
  ];
  if (either !== undefined) {
    const options = optionsIn(either);
    return [question(`Shall it be ${options.join(' or ')}?`, 'Choice', options, false)];
  }
  const about = wish.replace(/^(?:whether|if|about)\s+/iu, '').replace(/[.?!]+$/u, '');
  const text = about === '' ? 'Shall I go on?' : `${about[0]?.toUpperCase()}${about.slice(1)}?`;
  return [question(text, 'Question', ['Yes', 'No'], false)];
}

/** "A, B or C" → ["A", "B", "C"]; filled up to two, cut after four. */
function optionsIn(list: string): readonly string[] {
  const found = list
    .replace(/[.?!]+\s*$/u, '')
    .split(/\s*,\s*(?:or |and )?|\s+(?:or|and)\s+/iu)
    .map((option) => option.trim())
    .filter((option) => option !== '');
  const distinct = [...new Set(found)].slice(0, mostOptions);
  return distinct.length >= 2 ? distinct : ['Yes', 'No'];
}

function question(
  text: string,
  header: string,
  labels: readonly string[],
  multiSelect: boolean,
): Question {
  return {
    question: text,
    header: header.slice(0, mostHeaderChars),
    options: labels.map((label) => ({ label, description: `Choose ${label}.` })),
    multiSelect,
  };
}
