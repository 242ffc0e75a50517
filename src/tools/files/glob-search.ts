/** Glob, in the search thread: file names by pattern. */

import { lstatSync } from 'node:fs';
import picomatch from 'picomatch';
import type { GlobTask, SearchAnswer } from './search-task.ts';
import { walk } from './walk.ts';

const mostFiles = 1000;
const mostChars = 28_000;
/** A folder larger than this is not walked to its end. */
const mostWalked = 300_000;

export function globSearch({ place, pattern, includeIgnored }: GlobTask): SearchAnswer {
  const found = lstatSync(place.real, { throwIfNoEntry: false });
  if (!found) return { kind: 'error', text: `There is no folder ${place.shown}.` };
  if (!found.isDirectory()) {
    return { kind: 'error', text: `${place.shown} is no folder. Use FileRead to read it.` };
  }
  const matches = pathMatcher(pattern);
  const names: string[] = [];
  let walked = 0;
  for (const { relative, isLink } of walk(place.real, { root: place.root, includeIgnored })) {
    walked += 1;
    if (walked > mostWalked) break;
    if (matches(relative)) names.push(isLink ? `${relative} (link)` : relative);
  }
  const notes = walked > mostWalked ? [`(stopped after ${mostWalked} files; give a path)`] : [];
  if (names.length === 0) {
    return { kind: 'done', text: [`No file matches ${pattern}.`, ...notes].join('\n') };
  }
  return { kind: 'done', text: [...bounded(names.sort()), ...notes].join('\n') };
}

/** Against paths with `/`; a leading dot of a name is nothing special. */
export function pathMatcher(pattern: string): (relative: string) => boolean {
  return picomatch(pattern.replace(/^\.\//u, ''), { dot: true });
}

function bounded(names: readonly string[]): readonly string[] {
  const shown: string[] = [];
  let chars = 0;
  for (const name of names) {
    chars += name.length + 1;
    if (shown.length >= mostFiles || chars > mostChars) break;
    shown.push(name);
  }
  const rest = names.length - shown.length;
  return rest > 0 ? [...shown, `(and ${rest} more; narrow the pattern)`] : shown;
}
