/** What permissions are told of a call that concerns one path. */

import path from 'node:path';
import { isBotError } from '../../base/errors.ts';
import type { Assessment } from '../contract.ts';
import type { ResolvedPath } from '../paths.ts';

const ofPath = { match: 'path', isWhole: true } as const;

/** Of a call that reads. Where `resolve` fails, its words are the fault. */
export async function assessReading(
  asked: string,
  resolve: () => Promise<ResolvedPath>,
): Promise<Assessment> {
  const base = {
    ...ofPath,
    isReadOnly: true,
    needsApproval: false,
    why: 'it reads only',
    alwaysAsks: false,
  };
  const found = await orItsWords(resolve);
  if (typeof found === 'string') {
    return { ...base, subjects: [asked], grant: undefined, fault: found };
  }
  return { ...base, subjects: subjectsOf(found), grant: grantOf(found) };
}

/** Of a call that changes a file. `faultOf` says why it could not, were it run now. */
export async function assessChange(
  asked: string,
  resolve: () => Promise<ResolvedPath>,
  faultOf: () => Promise<string | undefined>,
): Promise<Assessment> {
  const base = { ...ofPath, isReadOnly: false, needsApproval: true };
  const found = await orItsWords(resolve);
  if (typeof found === 'string') {
    const why = `it changes ${asked}`;
    return { ...base, why, subjects: [asked], alwaysAsks: false, grant: undefined, fault: found };
  }
  const alwaysAsks = isOfGit(found);
  const fault = await orItsWords(faultOf);
  return {
    ...base,
    why: `it changes ${found.shown}${alwaysAsks ? ', by which git can be made to run programs' : ''}`,
    subjects: subjectsOf(found),
    alwaysAsks,
    grant: alwaysAsks ? undefined : grantOf(found),
    ...(fault === undefined ? {} : { fault }),
  };
}

/** What a step gives, or the sentence of its expected failure. */
async function orItsWords<T>(step: () => Promise<T>): Promise<T | string> {
  try {
    return await step();
  } catch (thrown) {
    if (isBotError(thrown, 'path_outside_workspace', 'tool_failed')) return thrown.message;
    throw thrown;
  }
}

/** The path as it was meant and, where links are on the way, as it really is. */
function subjectsOf({ shown, canonical }: ResolvedPath): readonly string[] {
  return shown === canonical ? [shown] : [shown, canonical];
}

/** A `.git` folder (or the file that stands for one) or anything below it, in any case: some file
 * systems know no difference. */
function isOfGit({ shown, canonical }: ResolvedPath): boolean {
  return [shown, canonical].some((one) =>
    one.split('/').some((name) => name.toLowerCase() === '.git'),
  );
}

/** The folder's files; for a file at the root that file alone. None where a name would be taken as
 * a pattern, or where a link could lead elsewhere tomorrow. */
function grantOf({ shown, canonical }: ResolvedPath): string | undefined {
  if (shown !== canonical || /[*?[\]{}()!+@|\\]/u.test(shown)) return undefined;
  const folder = path.posix.dirname(shown);
  return folder === '.' ? shown : `${folder}/**`;
}
