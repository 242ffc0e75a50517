/** Which files a folder's `.gitignore` leaves out, together with those of the folders above it. */

import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';

/** The rules of one folder. */
interface Rules {
  /** Absolute. */
  readonly folder: string;
  readonly rules: Ignore;
}

/** Outermost first. */
export type IgnoreChain = readonly Rules[];

const mostIgnoreBytes = 256 * 1024;

/** The chain with the rules of one more folder, which lies in the last one's. */
export function withRulesOf(chain: IgnoreChain, folder: string): IgnoreChain {
  const file = path.join(folder, '.gitignore');
  try {
    const found = lstatSync(file);
    if (!found.isFile() || found.size > mostIgnoreBytes) return chain;
    // As git on Linux: names differ by case.
    const rules = ignore({ ignorecase: false, allowRelativePaths: true }).add(
      readFileSync(file, 'utf8'),
    );
    return [...chain, { folder, rules }];
  } catch {
    return chain; // none there, or not readable
  }
}

/** The rules of all folders from `root` down to `folder`. Where they leave the folder itself out,
 * they are not held against one who asks for it. */
export function chainTo(root: string, folder: string): IgnoreChain {
  const names = path.relative(root, folder).split(path.sep).filter(Boolean);
  let chain = withRulesOf([], root);
  let at = root;
  for (const name of names) {
    at = path.join(at, name);
    if (isIgnored(chain, at, true)) return withRulesOf([], folder);
    chain = withRulesOf(chain, at);
  }
  return chain;
}

/** As git decides: the innermost file that says anything about it. */
export function isIgnored(chain: IgnoreChain, file: string, isFolder: boolean): boolean {
  for (const { folder, rules } of chain.toReversed()) {
    const relative = path.relative(folder, file).split(path.sep).join('/');
    const verdict = rules.test(isFolder ? `${relative}/` : relative);
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
}
