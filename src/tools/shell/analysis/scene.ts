/** Where a command of the line stands, and what it may read from there. */

import { followPath, globProblem, type ReadablePlace } from './places.ts';
import type { Piece, Word } from './words.ts';

/** Where a command of the line may stand; changed by `cd`, loops and `read`. */
export interface Scene {
  readonly places: readonly ReadablePlace[];
  /** Every folder that the shell may be in by now. */
  readonly folders: readonly string[];
  /** Variables that the line itself has set. */
  readonly variables: ReadonlySet<string>;
  readonly curlHosts: readonly string[];
  /** The home folder as the shell sees it. */
  readonly home: string | undefined;
}

/** A clause that says why something is not known to only read. */
export type Problem = string | undefined;

/** Values that say nothing that is secret. */
const plainVariable =
  /^(?:HOME|PWD|OLDPWD|USER|LOGNAME|RANDOM|SECONDS|LINENO|HOSTNAME|\d+|[@*#?$!-])$/u;

/** Why the value of a word that is known only when it runs may not be shown. */
export function openProblem(word: Extract<Word, { kind: 'open' }>, scene: Scene): Problem {
  if (!word.isQuoted) return 'an expansion outside double quotes may become names of files';
  const odd = word.variables.find(
    (variable) => !plainVariable.test(variable) && !scene.variables.has(variable),
  );
  return odd === undefined ? undefined : `the variable \`${odd}\` may hold a secret`;
}

/** Why the path may not be read from each folder that the shell may be in. */
export async function pathProblem(text: string, scene: Scene): Promise<Problem> {
  if (text === '-' || text === '/dev/null') return undefined;
  for (const folder of scene.folders) {
    const followed = await followPath(scene.places, folder, text);
    if (followed.kind === 'outside') return `${quoted(text)} is outside what may be read here`;
  }
  return undefined;
}

/** Why the names that a pattern becomes may not be read from each folder that the shell may be in. */
export async function globsProblem(pieces: readonly Piece[], scene: Scene): Promise<Problem> {
  for (const folder of scene.folders) {
    const problem = await globProblem(scene.places, folder, pieces);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** For a clause. */
export function quoted(text: string): string {
  return `\`${text.length > 60 ? `${text.slice(0, 60)}…` : text}\``;
}
