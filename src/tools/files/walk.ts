/** Walks a folder by name, for the search thread: blocks its thread, follows no link. */

import { type Dirent, readdirSync } from 'node:fs';
import path from 'node:path';
import { chainTo, type IgnoreChain, isIgnored, withRulesOf } from './ignored.ts';

export interface FoundFile {
  /** Absolute. */
  readonly file: string;
  /** Below the folder that is walked, with `/`. */
  readonly relative: string;
  readonly isLink: boolean;
}

export interface WalkOptions {
  /** Where `.gitignore` files begin to count; holds the folder that is walked. */
  readonly root: string;
  /** Also what `.gitignore` files and the house leave out. */
  readonly includeIgnored: boolean;
}

/** Left out wherever they are met. */
const leftOut = new Set(['.git', 'node_modules', '.deckhand']);
const mostDepth = 100;

/** Ordinary files and links, sorted by name within each folder. */
export function* walk(
  folder: string,
  { root, includeIgnored }: WalkOptions,
): Generator<FoundFile, void, void> {
  const chain = includeIgnored ? [] : chainTo(root, folder);
  yield* below(folder, '', { chain, includeIgnored, depth: 0 });
}

interface Level {
  readonly chain: IgnoreChain;
  readonly includeIgnored: boolean;
  readonly depth: number;
}

function* below(folder: string, prefix: string, level: Level): Generator<FoundFile, void, void> {
  if (level.depth > mostDepth) return;
  for (const entry of entriesOf(folder)) {
    const { name } = entry;
    const file = path.join(folder, name);
    const isFolder = entry.isDirectory();
    if (!level.includeIgnored) {
      if (leftOut.has(name) || isIgnored(level.chain, file, isFolder)) continue;
    }
    const relative = prefix + name;
    if (entry.isFile() || entry.isSymbolicLink()) {
      yield { file, relative, isLink: entry.isSymbolicLink() };
    } else if (isFolder) {
      const chain = level.includeIgnored ? [] : withRulesOf(level.chain, file);
      yield* below(file, `${relative}/`, { ...level, chain, depth: level.depth + 1 });
    }
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // gone meanwhile, or not readable
  }
}
