/** The pattern that "approve for this thread" would cover. */

import { neverGranted, neverGrantedBelow, wordsThatChoose } from './tables/grants.ts';

/**
 * `git push*` for the words of one plain command; undefined where other arguments of the same command
 * could do anything at all.
 */
export function grantOf(words: readonly string[]): string | undefined {
  const [name = '', ...rest] = words;
  // A path names a file that may be another one by then.
  if (!/^[a-z][\w.+-]*$/u.test(name) || isNeverGranted(name)) return undefined;
  let chosen = name;
  let left = chooses(name) ?? 0;
  for (let index = 0; left > 0; index += 1, left -= 1) {
    const word = rest[index];
    // An option before the subcommand could point it elsewhere.
    if (word === undefined || !/^[a-z][\w:-]*$/u.test(word)) return undefined;
    chosen = `${chosen} ${word}`;
    left += chooses(chosen) ?? 0;
  }
  return neverGrantedBelow.some((pattern) => pattern.test(chosen)) ? undefined : `${chosen}*`;
}

function chooses(words: string): number | undefined {
  return Object.hasOwn(wordsThatChoose, words) ? wordsThatChoose[words] : undefined;
}

/** `python3.11` is python. */
function isNeverGranted(name: string): boolean {
  return neverGranted.has(name) || neverGranted.has(name.replace(/[\d.]+$/u, ''));
}
