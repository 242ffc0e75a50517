/** Whether words name something below `.git/`, where a file can make git run a program later. */

import { followPath } from './places.ts';
import type { Scene } from './scene.ts';
import type { Word } from './words.ts';

/** Also as other file systems spell it, and where a pattern may become it. */
export function namesGitFolder(word: Word, source: string): boolean {
  if (word.kind === 'literal') return hasGitPart(word.text);
  if (word.kind !== 'glob') return hasGitPart(source.replaceAll(/["'\\]/gu, ''));
  const text = word.pieces.map((piece) => piece.text).join('');
  return text.split('/').some((part) => mayBecomeGit(part));
}

/** Whether one of the words is a path that leads there through links. */
export async function leadsToGitFolder(words: readonly Word[], scene: Scene): Promise<boolean> {
  for (const word of words) {
    if (word.kind !== 'literal' || word.text.startsWith('-')) continue;
    for (const folder of scene.folders) {
      const followed = await followPath(scene.places, folder, word.text);
      if (followed.kind === 'inside' && hasGitPart(followed.shell)) return true;
    }
  }
  return false;
}

/** In any text that is not taken apart. */
export function mentionsGitFolder(text: string): boolean {
  return /\.git(?![\w-])|git~\d/iu.test(text);
}

function hasGitPart(text: string): boolean {
  return text.split(/[/=:,\s]/u).some((part) => /^(?:\.git|git~\d+)$/iu.test(part));
}

const GIT = '.git';

/** Matches step by step: a regular expression of someone else's making may never end. */
function mayBecomeGit(part: string): boolean {
  // The dot must be written out, or stand in a bracket of a shell that is lenient about it.
  if (!/^[.[]/u.test(part)) return false;
  // How much of the name each beginning of the pattern may have matched.
  let matched: ReadonlySet<number> = new Set([0]);
  for (const token of part.match(/\[[^\]]*\]|./gsu) ?? []) {
    const next = new Set<number>();
    for (const length of matched) {
      if (token === '*') {
        for (let end = length; end <= GIT.length; end += 1) next.add(end);
      } else if (token === '?' || token.length > 1 || token.toLowerCase() === GIT[length]) {
        next.add(length + 1);
      }
    }
    matched = next;
  }
  return matched.has(GIT.length);
}
