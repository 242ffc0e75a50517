/** Results of tools within their limit: cut in the middle, kept whole in the workspace (B137). */

import { readdir, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolOutcome } from '../../src/tools/contract.ts';
import { boundedOutcome, cutMiddle, textOutcome } from '../../src/tools/text-result.ts';
import { readCase } from '../support/cases.ts';
import { said, usingFileTools } from '../support/file-tools.ts';

const setUp = usingFileTools();

const repeated = z.object({ repeat: z.string(), times: z.number() });
const b137 = readCase(
  'B137',
  z.object({
    results: z.array(
      z.object({
        isError: z.boolean().default(false),
        content: z.array(z.object({ text: repeated })),
        structuredContent: z.object({ rows: repeated }).optional(),
      }),
    ),
  }),
  z.object({ textToModelAtMostChars: z.number() }),
);

function outcomeOf(result: (typeof b137.input.results)[number]): ToolOutcome {
  const texts = result.content.map(({ text }) => text.repeat.repeat(text.times));
  const { rows } = result.structuredContent ?? {};
  if (rows) texts.push(JSON.stringify({ rows: rows.repeat.repeat(rows.times) }));
  return result.isError
    ? { kind: 'error', text: texts.join('') }
    : { kind: 'done', parts: texts.map((text) => ({ kind: 'text', text })) };
}

describe('results', () => {
  it('are cut in the middle, with a note, at 30,000 characters', () => {
    expect(cutMiddle('x'.repeat(30_000), 30_000)).toBe('x'.repeat(30_000));
    const cut = cutMiddle(`A${'x'.repeat(30_000)}Z`, 30_000);
    expect(cut.startsWith('A')).toBe(true);
    expect(cut.endsWith('Z')).toBe(true);
    expect(cut).toContain('[… 2 characters left out …]');
  });

  it.each([
    ['emoji', '😀', 2],
    ['flags', '🇩🇪', 4],
    ['families', '👨‍👩‍👧', 8],
    ['letters with marks', 'e\u0301', 2],
  ])('are never cut inside of %s', (_what, sign, units) => {
    for (const before of ['', 'a', 'ab', 'abc']) {
      const cut = cutMiddle(before + sign.repeat(20_000), 30_000).split(/\n\[.*\]\n/u);
      expect(((cut[0]?.length ?? 0) - before.length) % units).toBe(0);
      expect((cut[1]?.length ?? 0) % units).toBe(0);
    }
  });

  it('are cut also where all is one endless sign', () => {
    const endless = `e${'\u0301'.repeat(5_000_000)}`;
    expect(cutMiddle(endless).length).toBeLessThan(31_000);
    expect(cutMiddle('👨\u200d'.repeat(1_000_000)).length).toBeLessThan(31_000);
  });

  it.each(b137.input.results.map((result, index) => [index, result] as const))(
    'of several MB reach the model within bounds, and are there to be read (B137, %i)',
    async (_index, result) => {
      const { workspace, says } = await setUp();
      const outcome = outcomeOf(result);
      const at = performance.now();
      const bounded = await boundedOutcome(outcome, { workspace, callId: 'c1', toolName: 'mcp' });
      expect(performance.now() - at).toBeLessThan(2000);
      const text = said(bounded);
      expect(bounded.kind).toBe(result.isError ? 'error' : 'done');
      expect(text.length).toBeLessThan(31_000);
      expect(text.length).toBeLessThan(b137.expected.textToModelAtMostChars);
      expect(text).toContain('characters left out: the whole result of mcp is in ');
      expect(text).not.toMatch(/[\uD800-\uDFFF]/u);
      const whole = said(outcome);
      expect(text.slice(0, 19_990)).toBe(whole.slice(0, 19_990));
      expect(text.slice(-9990)).toBe(whole.slice(-9990));
      const page = await says('FileRead', { path: '.deckhand/results/c1.txt' });
      expect(page.length).toBeLessThanOrEqual(30_000);
      expect(page).toContain('continue with offset');
    },
  );

  it('are left as they are up to the limit', async () => {
    const { workspace, folder } = await setUp();
    const call = { workspace, callId: 'c1', toolName: 'T' };
    const whole = textOutcome('x'.repeat(30_000));
    expect(await boundedOutcome(whole, call)).toBe(whole);
    expect(await boundedOutcome({ kind: 'silence', reason: '' }, call)).toEqual({
      kind: 'silence',
      reason: '',
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('count all their texts together; images stay where they are', async () => {
    const { workspace, read } = await setUp();
    const image = { kind: 'image', mediaType: 'image/png', base64: 'AAAA' } as const;
    const text = (one: string) => ({ kind: 'text', text: one }) as const;
    const parts = [text('a'.repeat(15_000)), image, text('b'.repeat(15_000)), text('c'), image];
    const bounded = await boundedOutcome(
      { kind: 'done', parts },
      { workspace, callId: 'c1', toolName: 'T' },
    );
    if (bounded.kind !== 'done') throw new Error(bounded.kind);
    expect(bounded.parts.map(({ kind }) => kind)).toEqual([
      ...['text', 'image', 'text', 'text', 'image'],
    ]);
    expect(said(bounded)).toContain('[… 1 characters left out: ');
    expect((await read('.deckhand/results/c1.txt')).toString()).toBe(
      `${'a'.repeat(15_000)}${'b'.repeat(15_000)}c`,
    );
  });

  it.each(['../../x', 'a/b', '', 'functions.x:0', 'x'.repeat(300), 'a\0b'])(
    'are kept inside, whatever the id of the call: %j',
    async (callId) => {
      const { workspace, folder } = await setUp();
      const text = said(
        await boundedOutcome(textOutcome('x'.repeat(30_001)), {
          ...{ workspace, callId, toolName: 'T' },
        }),
      );
      expect(text).toContain('is in .deckhand/results/');
      expect(await readdir(path.join(folder, '.deckhand/results'))).toHaveLength(1);
    },
  );

  it('are not written through a link, and the note says that the rest is lost', async () => {
    const { outer, workspace, folder } = await setUp();
    await symlink(path.join(outer, 'agent-other'), path.join(folder, '.deckhand'));
    const text = said(
      await boundedOutcome(textOutcome('x'.repeat(30_001)), {
        ...{ workspace, callId: 'c1', toolName: 'T' },
      }),
    );
    expect(text).toContain('the rest could not be kept');
    expect(await readdir(path.join(outer, 'agent-other'))).toEqual(['secret.txt']);
  });

  it('keep 50 files, the newest', async () => {
    const { workspace, folder, write } = await setUp();
    for (let at = 0; at < 50; at += 1) {
      await write(`.deckhand/results/old${at}.txt`, '');
      await utimes(path.join(folder, `.deckhand/results/old${at}.txt`), 1000 + at, 1000 + at);
    }
    await boundedOutcome(textOutcome('x'.repeat(30_001)), {
      ...{ workspace, callId: 'new', toolName: 'T' },
    });
    const names = await readdir(path.join(folder, '.deckhand/results'));
    expect(names).toHaveLength(50);
    expect(names).toContain('new.txt');
    expect(names).not.toContain('old0.txt');
    expect(names).toContain('old1.txt');
  });
});
