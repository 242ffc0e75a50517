/** Judges where a command's input comes from and its output goes to. */

import type { SimpleCommandNode } from 'just-bash';
import { leadsToGitFolder, namesGitFolder } from './git-folder.ts';
import { openProblem, type Problem, pathProblem, type Scene } from './scene.ts';
import { wordText } from './subjects.ts';
import { readOneWord, type Word } from './words.ts';

type Redirection = SimpleCommandNode['redirections'][number];
type Document = Extract<Redirection['target'], { type: 'HereDoc' }>;

export interface JudgedRedirection {
  /** Why it is not known to only read. */
  readonly why: Problem;
  /** `> out.txt` where a file is written, or read that may not be. */
  readonly subject?: string;
  /** The file lies below `.git/`. */
  readonly isGit?: boolean;
  /** What follows may be more, or less, than was parsed. */
  readonly isUncertain?: boolean;
}

const harmless: JudgedRedirection = { why: undefined };

export async function judgeRedirection(
  { target, operator }: Redirection,
  isNested: boolean,
  scene: Scene,
): Promise<JudgedRedirection> {
  if (target.type === 'HereDoc') return judgeDocument(target, isNested);
  const word = readOneWord(target);
  switch (operator) {
    case '<<<':
      return { why: textProblem(word, scene) };
    case '<': {
      const why = await inputProblem(word, scene);
      return why === undefined ? harmless : { why, subject: `< ${wordText(target)}` };
    }
    case '>&':
    case '<&':
      // Another name of what is open already; anything else is a file.
      if (word.kind === 'literal' && /^(?:\d+-?|-)$/u.test(word.text)) return harmless;
      break;
    case '>':
    case '>>':
    case '>|':
    case '&>':
    case '&>>':
      if (word.kind === 'literal' && word.text === '/dev/null') return harmless;
      break;
    case '<>':
    case '<<': // these two have documents
    case '<<-':
      break;
  }
  const text = wordText(target);
  return {
    why: `it writes to ${text}`,
    subject: `${operator} ${text}`,
    isGit: namesGitFolder(word, text) || (await leadsToGitFolder([word], scene)),
  };
}

function judgeDocument({ content, quoted }: Document, isNested: boolean): JudgedRedirection {
  // Inside a substitution shells differ on it.
  if (isNested) return { why: 'where its document ends is not certain', isUncertain: true };
  const isLiteral = quoted || documentIsLiteral(content);
  return isLiteral ? harmless : { why: 'its document holds expansions' };
}

/** Blanks, quotes and patterns mean nothing in a document; `$` and backquotes do. */
function documentIsLiteral({ parts }: Document['content']): boolean {
  return parts.every((part) => part.type === 'Literal' && !/[$`]/u.test(part.value));
}

function textProblem(word: Word, scene: Scene): Problem {
  // Nothing is split or expanded to names here.
  if (word.kind === 'open') return openProblem({ ...word, isQuoted: true }, scene);
  return word.kind === 'odd' ? word.why : undefined;
}

function inputProblem(word: Word, scene: Scene): Problem | Promise<Problem> {
  if (word.kind !== 'literal') return 'it reads a file that is known only when it runs';
  return pathProblem(word.text === '-' ? './-' : word.text, scene);
}
