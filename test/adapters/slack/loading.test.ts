/** bolt takes 0.3 s and 36 MB: it is loaded when the platform is on, and not before. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const folder = new URL('../../../adapters/slack/', import.meta.url);

/** Packages that a file needs when it is loaded: types and `import()` do not count. */
function packagesAtLoad(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const source = readFileSync(new URL(file, folder), 'utf8');
  const packages = new Set<string>();
  for (const match of source.matchAll(/^import (?!type )[^;]*?from '([^']+)';/gmu)) {
    const from = match[1] ?? '';
    if (from.startsWith('./')) {
      for (const name of packagesAtLoad(from.slice(2), seen)) packages.add(name);
    } else if (!from.startsWith('../')) packages.add(from);
  }
  return packages;
}

describe('loading the Slack adapter', () => {
  it('needs no SDK', () => {
    expect([...packagesAtLoad('adapter.ts')].filter((name) => name.startsWith('@slack/'))).toEqual(
      [],
    );
    expect(packagesAtLoad('adapter.ts')).toContain('zod');
  });

  it('looked: the connection does need them', () => {
    expect(packagesAtLoad('connect.ts')).toContain('@slack/bolt');
  });
});
