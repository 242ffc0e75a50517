/** Names of a folder that somebody may have meant who wrote another. */

import { opendir } from 'node:fs/promises';
import path from 'node:path';
import type { ResolvedPath } from '../paths.ts';

const mostLookedAt = 500;
const mostNames = 3;

/** Paths as shown to the model, nearest first; empty when nothing is near or the folder is gone. */
export async function nearNames(missing: ResolvedPath): Promise<readonly string[]> {
  const wanted = path.basename(missing.shown);
  const folder = path.posix.dirname(missing.shown);
  const names = await namesIn(path.dirname(missing.real));
  return names
    .map((name) => ({ name, steps: nearness(wanted, name) }))
    .filter(({ name, steps }) => steps <= Math.max(2, Math.min(wanted.length, name.length) / 4))
    .sort((a, b) => a.steps - b.steps || (a.name < b.name ? -1 : 1))
    .slice(0, mostNames)
    .map(({ name }) => (folder === '.' ? name : path.posix.join(folder, name)));
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(folder)) {
      names.push(name);
      if (names.length >= mostLookedAt) break;
    }
  } catch {
    return []; // no such folder: nothing to suggest
  }
  return names;
}

/** Half a step for another case, the same name with another ending is one step. */
function nearness(wanted: string, name: string): number {
  const [one, other] = [wanted.toLowerCase(), name.toLowerCase()];
  if (one === other) return 0.5;
  if (path.parse(one).name === path.parse(other).name) return 1;
  return distance(one, other);
}

/** Levenshtein: how many characters must be added, taken away or replaced. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let line = 0; line < one.length; line += 1) {
    const next = [line + 1];
    for (let at = 0; at < other.length; at += 1) {
      const replaced = (row[at] ?? 0) + (other[at] === one[line] ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
